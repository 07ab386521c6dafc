"""HTTP clients: curl, wget and those that follow them.

What goes out (-T, -d @file, -F x=@file), what is kept (-o, -O) and where it goes; a plain download
to stdout is marked, because a shell may sit at the other end of the pipe.
"""

from __future__ import annotations

from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, NetAction, Operation
from latchd.shell.grammar.description import Contact, Context, Description, unique
from latchd.shell.grammar.options import Parsed, piece
from latchd.shell.grammar.program import aimed, program

_DATA: Final = ("data", "data-binary", "data-ascii", "data-raw", "data-urlencode", "json", "url-query")
_FORMS: Final = ("form", "form-string")
_READ: Final = (
    "cacert", "cert", "key", "proxy-cacert", "proxy-cert", "proxy-key", "pubkey", "netrc-file", "crlfile",
    "config", "egd-file", "unix-socket", "abstract-unix-socket", "etag-compare",
)  # fmt: skip
_WRITTEN: Final = (
    "cookie-jar",
    "dump-header",
    "trace",
    "trace-ascii",
    "stderr",
    "hsts",
    "alt-svc",
    "etag-save",
    "libcurl",
)


def _file_of(word: Argument, *, marks: str = "@") -> Argument | None:
    """The file in ``@file`` or ``name@file``; None for plain data."""
    if word.value[:1] in marks and len(word.value) > 1:
        return piece(word, 1)
    return None


def curl_uploads(parsed: Parsed) -> tuple[list[Argument], bool]:
    """Files that curl sends, and whether anything at all is sent."""
    files: list[Argument] = list(parsed.values("upload-file"))
    sends = bool(files) or parsed.has(*_DATA, *_FORMS)
    for option in parsed.given:
        word = option.value
        if word is None:
            continue
        if option.name in ("data", "data-binary", "data-ascii", "json", "url-query"):
            found = _file_of(word)
        elif option.name == "data-urlencode":
            at = word.value.find("@")
            equals = word.value.find("=")
            found = piece(word, at + 1) if at >= 0 and (equals < 0 or at < equals) else None
        elif option.name == "form":
            _, equals_sign, part = word.value.partition("=")
            start = len(word.value) - len(part) + 1
            found = (
                piece(word, start, _form_end(word.value, start))
                if equals_sign and part[:1] in "@<" and part
                else None
            )
        elif option.name in ("header", "proxy-header", "write-out"):
            found = _file_of(word)
            sends = sends or (found is not None and option.name != "write-out")
        else:
            continue
        if found is not None and found.value:
            files.append(found)
    return files, sends


def _form_end(value: str, start: int) -> int:
    end = value.find(";", start)
    return len(value) if end < 0 else end


class _Transfer(msgspec.Struct):
    """One URL and where curl keeps it: curl pairs the n-th URL with the n-th option that says so."""

    kept: Argument | None = None  # the file of its -o
    named: bool = False  # after the URL: -O, or --remote-name-all ahead of it
    told: bool = False  # an option of its own said where
    url: Argument | None = None


def _transfers(parsed: Parsed) -> list[_Transfer]:
    """The URLs with their outputs, in order; --next begins anew."""
    found: list[_Transfer] = []
    start, by_name = 0, False
    for given in parsed.order:
        if given.name == "next":
            start, by_name = len(found), False
        elif given.name in ("remote-name-all", "no-remote-name-all"):
            by_name = given.name == "remote-name-all"
        elif given.name in ("", "url") and given.value is not None:
            waiting = next((item for item in found[start:] if item.url is None), None)
            if waiting is None:
                found.append(waiting := _Transfer(named=by_name))
            waiting.url = given.value
        elif given.name in ("output", "remote-name", "no-remote-name"):
            free = next((item for item in found[start:] if not item.told), None)
            if free is None:
                found.append(free := _Transfer())
            free.told, free.kept, free.named = True, given.value, given.name == "remote-name"
    return found


_STDOUT: Final = ("-", "/dev/stdout")


def _outputs(transfers: list[_Transfer]) -> tuple[list[Argument], bool]:
    """The files that are made, and whether anything goes to stdout, as a URL without a file does."""
    files: list[Argument] = []
    shown = False
    for item in transfers:
        if item.kept is not None:
            shown = shown or item.kept.value in _STDOUT
            files += [item.kept] if item.kept.value not in (*_STDOUT, "/dev/null") else []
        elif item.named and item.url is not None:
            files += [name for name in (remote_name(item.url),) if name is not None]
        elif item.url is not None:
            shown = True
    return files, shown


def _curls(parsed: Parsed, _context: Context) -> Description:
    """Data that stands in the words is seen, and so is a plain contact; anything else is an upload."""
    if parsed.has("manual"):
        return Description(known=True)
    urls = (*parsed.values("url"), *parsed.operands)
    files, sends = curl_uploads(parsed)
    sent = [word for word in files if word.value not in ("-", ".")]
    outputs, shown = _outputs(_transfers(parsed))
    shown = shown or not (urls or outputs)
    directory = parsed.value("output-dir")
    if directory is not None:
        outputs = [_inside(directory, word) for word in outputs]
    method = parsed.text("request").upper()
    uploading = sends
    operations: list[Operation] = [Operation.UPLOAD] if uploading else []
    if not uploading and method in ("PUT", "POST", "PATCH", "DELETE"):
        operations.append(Operation.CONNECT)
    if not uploading or outputs:
        operations.append(Operation.FETCH)
    local = [found for url in urls if (found := _local(url)) is not None]
    cookies = (word for word in parsed.values("cookie") if "=" not in word.value)
    read = (*parsed.values(*_READ), *cookies, *local)
    if sent or read:
        operations.append(Operation.READ)
    written = (*outputs, *parsed.values(*_WRITTEN))
    if written:
        operations.append(Operation.WRITE)
    told = uploading and not files and not any("\0" in word.value for word in parsed.values(*_DATA, *_FORMS))
    action = NetAction.CONNECT if told else NetAction.UPLOAD if uploading else NetAction.DOWNLOAD
    proxies = parsed.values("proxy", "preproxy", "socks4", "socks4a", "socks5", "socks5-hostname", "doh-url")
    details = (
        *(("remote-delete",) if method == "DELETE" else ()),
        *(("insecure",) if parsed.has("insecure") else ()),
        *(("config-file",) if parsed.has("config") else ()),
        *(("stdin-upload",) if any(word.value in ("-", ".") for word in files) else ()),
        *(("dynamic-upload",) if any("\0" in word.value for word in parsed.values(*_DATA, *_FORMS)) else ()),
        *(("stdout-download",) if shown and not parsed.has("head") else ()),
    )
    return Description(
        known=True,
        operations=unique(operations),
        targets=(
            *aimed(Access.READ, (*sent, *read)),
            *aimed(Access.WRITE, written),
        ),
        contacts=(
            *(Contact(action, word) for word in urls if _local(word) is None),
            *(Contact(NetAction.CONNECT, word) for word in proxies),
            *(Contact(NetAction.CONNECT, found) for found in _rerouted(parsed)),
        ),
        details=details,
        uploads=tuple(sent),
        saves=tuple(outputs),
        reads_stdin="stdin-upload" in details or parsed.text("config") == "-",
        writes_stdout=shown or not outputs,
    )


def _local(url: Argument) -> Argument | None:
    """The file of a file: URL."""
    scheme, separator, rest = url.value.partition("://")
    if not separator or scheme.lower() != "file":
        return None
    at = rest.find("/")
    return piece(url, len(scheme) + 3 + at) if at >= 0 else None


def _rerouted(parsed: Parsed) -> list[Argument]:
    """--resolve and --connect-to send the request elsewhere than its URL says."""
    found = [piece(word, word.value.rfind(":") + 1) for word in parsed.values("resolve")]
    for word in parsed.values("connect-to"):
        parts = word.value.split(":")
        if len(parts) >= 3 and parts[2]:
            found.append(Argument(value=":".join(parts[2:]), expands=word.expands))
    return [word for word in found if word.value]


def remote_name(url: Argument) -> Argument | None:
    """The file name a URL ends in, as -O keeps it."""
    path = url.value.partition("?")[0].partition("#")[0].partition("://")[2] or url.value
    name = path.partition("/")[2].rpartition("/")[2]
    if not name:
        return None
    return Argument(value=name, expands="\0" in name)


def _inside(directory: Argument, word: Argument) -> Argument:
    if word.value.startswith("/"):
        return word
    return Argument(
        value=f"{directory.value.rstrip('/')}/{word.value}",
        quote=directory.quote,
        expands=directory.expands or word.expands,
    )


def _wgets(parsed: Parsed, _context: Context) -> Description:
    """wget keeps what it gets under the URL's name unless -O names another file or ``-``."""
    posted = parsed.values("post-file", "body-file")
    sends = (
        bool(posted)
        or parsed.has("post-data", "body-data")
        or parsed.text("method").upper() in ("POST", "PUT")
    )
    output = parsed.value("output-document")
    lists = parsed.values("input-file")
    to_stdout = output is not None and output.value in ("-", "/dev/stdout")
    saves: list[Argument] = []
    if output is not None and not to_stdout and output.value != "/dev/null":
        saves.append(output)
    elif output is None and not parsed.has("spider"):
        saves += [name for url in parsed.operands if (name := remote_name(url)) is not None]
        directory = parsed.value("directory-prefix")
        if directory is not None:
            saves = [_inside(directory, word) for word in saves] or [directory]
    written = (
        *saves,
        *parsed.values("output-file", "append-output", "save-cookies", "warc-file", "rejected-log"),
    )
    read = (
        *posted,
        *lists,
        *parsed.values("load-cookies", "certificate", "private-key", "ca-certificate", "config"),
    )
    operations = [Operation.UPLOAD] if sends else [Operation.FETCH]
    operations += [Operation.READ] if read else []
    operations += [Operation.WRITE] if written else []
    told = sends and not posted and not any("\0" in w.value for w in parsed.values("post-data", "body-data"))
    action = NetAction.CONNECT if told else NetAction.UPLOAD if sends else NetAction.DOWNLOAD
    return Description(
        known=True,
        operations=tuple(operations),
        targets=(*aimed(Access.READ, read), *aimed(Access.WRITE, written)),
        contacts=tuple(Contact(action, word) for word in (*parsed.operands, *_http_only(lists))),
        details=(
            *(("remote-delete",) if parsed.text("method").upper() == "DELETE" else ()),
            *(("recursive",) if parsed.has("recursive", "mirror") else ()),
            *(("insecure",) if parsed.has("no-check-certificate") else ()),
            *(("config-file",) if parsed.has("config", "execute", "input-file") else ()),
            *(("stdout-download",) if to_stdout else ()),
        ),
        uploads=posted,
        saves=tuple(saves),
        writes_stdout=to_stdout,
    )


def _http_only(words: tuple[Argument, ...]) -> list[Argument]:
    return [word for word in words if "://" in word.value]


_METHODS: Final = frozenset("GET POST PUT PATCH DELETE HEAD OPTIONS TRACE CONNECT".split())


def _https(parsed: Parsed, _context: Context) -> Description:
    """httpie and xh: [METHOD] URL [ITEM…]; an item with ``@`` sends a file."""
    words = parsed.operands
    method = ""
    if words and words[0].value.upper() in _METHODS:
        method, words = words[0].value.upper(), words[1:]
    url, items = words[:1], words[1:]
    files = [found for item in items if (found := _item_file(item)) is not None]
    data = [item for item in items if ":" not in item.value and "==" not in item.value and "=" in item.value]
    sends = (
        bool(files or data) or method in ("POST", "PUT", "PATCH") or parsed.has("form", "multipart", "raw")
    )
    output = parsed.values("output")
    told = sends and not files and not _context.piped and not any("\0" in item.value for item in items)
    action = NetAction.CONNECT if told else NetAction.UPLOAD if sends else NetAction.DOWNLOAD
    return Description(
        known=True,
        operations=unique(
            (
                Operation.UPLOAD if sends else Operation.FETCH,
                *((Operation.READ,) if files else ()),
                *((Operation.WRITE,) if output else ()),
            )
        ),
        targets=(*aimed(Access.READ, files), *aimed(Access.WRITE, output)),
        contacts=tuple(Contact(action, word) for word in url),
        details=(
            *(("remote-delete",) if method == "DELETE" else ()),
            *(("stdout-download",) if not output else ()),
        ),
        uploads=tuple(files),
        saves=output,
        reads_stdin=_context.piped,
        writes_stdout=not output,
    )


def _item_file(item: Argument) -> Argument | None:
    at = item.value.find("@")
    if at < 0 or "=" in item.value[:at].removesuffix("=").removesuffix(":") or "/" in item.value[:at]:
        return None
    return piece(item, at + 1)


def _downloads(parsed: Parsed, _context: Context) -> Description:
    """aria2c, axel, youtube-dl, lynx and other fetchers: operands are URLs."""
    outputs = parsed.values("output", "out", "dir")
    stdout = parsed.has("dump", "source", "dump-source") and not outputs
    return Description(
        known=True,
        operations=(Operation.FETCH, *((Operation.WRITE,) if not stdout else ())),
        targets=(*aimed(Access.READ, parsed.values("input-file")), *aimed(Access.WRITE, outputs)),
        contacts=tuple(Contact(NetAction.DOWNLOAD, word) for word in parsed.operands),
        details=("stdout-download",) if stdout else (),
        saves=outputs,
        writes_stdout=stdout,
    )


_CURL: Final = (
    "abstract-unix-socket= alt-svc= anyauth a,append aws-sigv4= basic cacert= capath= E,cert= "
    "cert-type= ciphers= compressed "
    "K,config= connect-timeout= connect-to= C,continue-at= b,cookie= c,cookie-jar= create-dirs "
    "create-file-mode= crlf "
    "crlfile= curves= d,data= data-ascii= data-binary= data-raw= data-urlencode= delegation= digest "
    "q,disable disable-eprt "
    "disable-epsv disallow-username-in-url dns-interface= dns-ipv4-addr= dns-ipv6-addr= dns-servers= "
    "doh-url= D,dump-header= "
    "doh-insecure egd-file= engine= etag-compare= etag-save= expect100-timeout= f,fail fail-early "
    "fail-with-body false-start "
    "F,form= form-escape form-string= ftp-account= ftp-alternative-to-user= ftp-create-dirs "
    "ftp-method= ftp-pasv P,ftp-port= "
    "ftp-skip-pasv-ip ftp-ssl-ccc G,get g,globoff happy-eyeballs-timeout-ms= haproxy-protocol I,head "
    "H,header= hostpubmd5= "
    "hsts= http0.9 http1.0,0 http1.1 http2 http2-prior-knowledge http3 ignore-content-length "
    "i,include,show-headers k,insecure "
    "interface= ip-tos= ipv4,4 ipv6,6 json= j,junk-session-cookies keepalive-time= key= key-type= krb= "
    "libcurl= limit-rate= "
    "l,list-only local-port= L,location location-trusted login-options= mail-auth= mail-from= "
    "mail-rcpt= M,manual "
    "max-filesize= max-redirs= m,max-time= metalink negotiate n,netrc netrc-file= netrc-optional "
    "N,no-buffer no-keepalive "
    "no-npn no-alpn no-progress-meter no-sessionid noproxy= ntlm oauth2-bearer= o,output= output-dir= "
    "Z,parallel "
    "parallel-immediate parallel-max= pass= path-as-is pinnedpubkey= post301 post302 post303 preproxy= "
    "progress-bar proto= "
    "proto-default= proto-redir= x,proxy= proxy-anyauth proxy-basic proxy-cacert= proxy-cert= "
    "proxy-key= proxy-header= "
    "proxy-insecure U,proxy-user= proxy1.0= p,proxytunnel pubkey= Q,quote= random-file= r,range= rate= "
    "raw e,referer= "
    "J,remote-header-name O,remote-name remote-name-all "
    "no-remote-name no-remote-name-all R,remote-time remove-on-error X,request= "
    "request-target= resolve= "
    "retry= retry-all-errors retry-connrefused retry-delay= retry-max-time= sasl-authzid= sasl-ir "
    "service-name= S,show-error "
    "s,silent skip-existing socks4= socks4a= socks5= socks5-hostname= Y,speed-limit= y,speed-time= ssl "
    "ssl-reqd 2,sslv2 3,sslv3 "
    "stderr= styled-output suppress-connect-headers tcp-fastopen tcp-nodelay t,telnet-option= "
    "tftp-blksize= z,time-cond= "
    "tls-max= tls13-ciphers= tlsv1,1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding trace= trace-ascii= "
    "trace-time trace-ids "
    "unix-socket= T,upload-file= url= url-query= B,use-ascii u,user= A,user-agent= v,verbose V,version "
    "w,write-out= xattr "
    "h,help? no-location no-insecure progress-meter ca-native variable= next,:"
)

PROGRAMS: Final = (
    program(
        "curl curlie",
        _CURL,
        _curls,
        {
            "curl https://example.com/a": "fetch download@https://example.com/a +stdout-download",
            "curl -fsSL https://example.com/i.sh -o i.sh": (
                "fetch write write:i.sh download@https://example.com/i.sh save=i.sh >none"
            ),
            "curl -O https://example.com/x.tgz": (
                "fetch write write:x.tgz download@https://example.com/x.tgz save=x.tgz >none"
            ),
            "curl -o a https://example.com/a https://example.com/b": (
                "fetch write write:a download@https://example.com/a download@https://example.com/b"
                " save=a +stdout-download"
            ),
            "curl https://example.com/a --remote-name-all": (
                "fetch download@https://example.com/a +stdout-download"
            ),
            "curl --remote-name-all https://example.com/a --no-remote-name-all": (
                "fetch write write:a download@https://example.com/a save=a >none"
            ),
            "curl --remote-name-all --no-remote-name https://example.com/a https://example.com/b": (
                "fetch write write:b download@https://example.com/a download@https://example.com/b"
                " save=b +stdout-download"
            ),
            "curl -T secret https://example.com/": (
                "upload read read:secret upload@https://example.com/ upload=secret +stdout-download"
            ),
            "curl -d @.env https://example.com": (
                "upload read read:.env upload@https://example.com upload=.env +stdout-download"
            ),
            "curl -d $X https://example.com": (
                "upload upload@https://example.com +dynamic-upload +stdout-download"
            ),
            "curl -d a=b localhost:8080": "upload connect@localhost:8080 +stdout-download",
            "curl file:///etc/hosts": "fetch read read:/etc/hosts +stdout-download",
            "curl --data-urlencode x@f https://example.com": (
                "upload read read:f upload@https://example.com upload=f +stdout-download"
            ),
            "curl -F 'f=@a.txt;type=text/plain' https://example.com": (
                "upload read read:a.txt upload@https://example.com upload=a.txt +stdout-download"
            ),
            "curl --data-binary @- https://example.com": (
                "upload upload@https://example.com +stdin-upload +stdout-download <stdin"
            ),
            "curl -sSo- https://example.com/i": "fetch download@https://example.com/i +stdout-download",
            "curl -K cfg": "fetch read read:cfg +config-file +stdout-download",
            "curl -X DELETE https://example.com/x": (
                "connect fetch download@https://example.com/x +remote-delete +stdout-download"
            ),
            "curl -X POST -H 'A: b' https://example.com": (
                "connect fetch download@https://example.com +stdout-download"
            ),
            "curl -kI https://example.com": "fetch download@https://example.com +insecure",
            "curl --resolve a.com:443:10.0.0.1 https://a.com/x": (
                "fetch download@https://a.com/x connect@10.0.0.1 +stdout-download"
            ),
            "curl --upload-fi f https://example.com": (
                "upload read read:f upload@https://example.com upload=f +stdout-download"
            ),
            "curl -b jar -c jar https://example.com": (
                "fetch read write read:jar write:jar download@https://example.com +stdout-download"
            ),
            "curl --version": "preview",
            "curl https://$X/a": "fetch download@https://$/a +stdout-download",
        },
    ),
    program(
        "wget wget2",
        "~ O,output-document= o,output-file= a,append-output= e,execute= i,input-file= B,base= "
        "t,tries= T,timeout= w,wait= "
        "Q,quota= P,directory-prefix= U,user-agent= header= l,level= A,accept= R,reject= D,domains= "
        "I,include-directories= "
        "X,exclude-directories= post-data= post-file= body-data= body-file= method= user= password= "
        "http-user= http-password= "
        "load-cookies= save-cookies= certificate= private-key= ca-certificate= config= cut-dirs= "
        "limit-rate= referer= "
        "connect-timeout= read-timeout= dns-timeout= bind-address= default-page= warc-file= "
        "rejected-log= r,recursive m,mirror "
        "spider no-check-certificate accept-regex= reject-regex= max-redirect= waitretry= proxy-user= "
        "proxy-password= "
        "secure-protocol= restrict-file-names= exclude-domains= ftp-user= ftp-password= V,version h,help",
        _wgets,
        {
            "wget https://example.com/a.tgz": (
                "fetch write write:a.tgz download@https://example.com/a.tgz save=a.tgz >none"
            ),
            "wget -qO- https://example.com/i.sh": "fetch download@https://example.com/i.sh +stdout-download",
            "wget -O out https://example.com/": (
                "fetch write write:out download@https://example.com/ save=out >none"
            ),
            "wget --post-file=.env https://example.com/": (
                "upload read read:.env upload@https://example.com/ upload=.env >none"
            ),
            "wget -P dl -i urls": "fetch read write read:urls write:dl save=dl +config-file >none",
            "wget --spider https://example.com": "fetch download@https://example.com >none",
            "wget -r -l 2 https://example.com/d/": "fetch download@https://example.com/d/ +recursive >none",
        },
    ),
    program(
        "http https httpie xh xhs",
        "~ o,output= a,auth= A,auth-type= s,style= p,print= session= session-read-only= proxy= verify= "
        "cert= cert-key= timeout= "
        "raw= f,form multipart boundary= pretty= j,json d,download check-status follow max-redirects= "
        "response-mime= ssl=",
        _https,
        {
            "http example.com": "fetch download@example.com +stdout-download",
            "http POST example.com a=b f@x.txt": (
                "upload read read:x.txt upload@example.com upload=x.txt +stdout-download"
            ),
            "http -d -o f https://example.com/f": (
                "fetch write write:f download@https://example.com/f save=f >none"
            ),
        },
    ),
    program(
        "aria2c axel youtube-dl yt-dlp lynx links elinks w3m hurl monolith httrack",
        "~ o,output,out= d,dir= i,input-file= f= x,max-connection-per-server= s,split= n= j= l= dump "
        "source dump-source cfg= U= "
        "header=",
        _downloads,
        {
            "aria2c -d dl https://example.com/a": (
                "fetch write write:dl download@https://example.com/a save=dl >none"
            ),
            "lynx --dump https://example.com": "fetch download@https://example.com +stdout-download",
        },
    ),
)
