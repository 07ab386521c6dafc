"""Programs that read files or stdin and print: nothing here writes unless an option says so."""

from __future__ import annotations

from typing import Final

import msgspec

from latch_contracts.facts import Access, Operation
from latchd.shell.grammar.description import Context, Description, Target, unique
from latchd.shell.grammar.options import Parsed, Style, literal
from latchd.shell.grammar.program import acts, aimed, filters, neutral, program, reader


def _stats(parsed: Parsed, _context: Context) -> Description:
    return Description(
        known=True, targets=aimed(Access.METADATA, (*parsed.values("reference"), *parsed.operands))
    )


def _sorts(parsed: Parsed, _context: Context) -> Description:
    """sort: -o writes, and may be the file that is read."""
    base = reader("files0-from", "random-source")(parsed, _context)
    output = parsed.value("output")
    if output is None:
        return base
    return Description(
        known=True,
        operations=(*base.operations, Operation.WRITE),
        targets=(*base.targets, Target(Access.WRITE, output)),
        reads_stdin=base.reads_stdin,
        writes_stdout=False,
    )


def _reads_then_writes(parsed: Parsed, _context: Context) -> Description:
    """uniq, xxd, iconv-like: the first operand is read, the second written."""
    read, written = parsed.operands[:1], parsed.operands[1:2]
    targets = (*aimed(Access.READ, read), *aimed(Access.WRITE, written))
    operations = (*((Operation.READ,) if read else ()), *((Operation.WRITE,) if written else ()))
    return Description(
        known=True,
        operations=operations,
        targets=targets,
        reads_stdin=not read or read[0].value == "-",
        writes_stdout=not written,
    )


def _encodes(parsed: Parsed, context: Context) -> Description:
    """base64 and its kin: decoding turns hidden text into plain text."""
    base = reader("input")(parsed, context)
    written = aimed(Access.WRITE, parsed.values("output"))
    operations = (
        *base.operations,
        *((Operation.DECODE,) if parsed.has("decode") else ()),
        *((Operation.WRITE,) if written else ()),
    )
    return Description(
        known=True,
        operations=operations,
        targets=(*base.targets, *written),
        reads_stdin=not base.targets,
        writes_stdout=not written,
    )


def _hexdump(parsed: Parsed, context: Context) -> Description:
    base = _reads_then_writes(parsed, context)
    if not parsed.has("revert"):
        return base
    return Description(
        known=True,
        operations=(*base.operations, Operation.DECODE),
        targets=base.targets,
        reads_stdin=base.reads_stdin,
        writes_stdout=base.writes_stdout,
    )


def _jq(parsed: Parsed, _context: Context) -> Description:
    """jq and yq: the first operand is a program unless a file holds it; it can read the environment."""
    from_file = parsed.values("from-file")
    operands = parsed.operands
    code = "" if from_file else "".join(word.value for word in operands[:1])
    files = operands if from_file else operands[1:]
    if parsed.has("args", "jsonargs"):
        files = ()
    targets = aimed(Access.READ, (*from_file, *files))
    operations: list[Operation] = [Operation.READ] if targets else []
    details: tuple[str, ...] = ()
    if parsed.has("in-place"):
        targets = (*targets, *aimed(Access.WRITE, files))
        operations.append(Operation.WRITE)
        details = ("in-place",)
    names = code.replace("(", " ").replace(")", " ").replace("|", " ").replace(".", " ").split()
    if "env" in names or "$ENV" in code:
        operations.append(Operation.ENVIRONMENT_READ)
    return Description(
        known=True,
        operations=tuple(operations),
        targets=targets,
        details=details,
        reads_stdin=not files and not parsed.has("null-input"),
    )


def _split(parsed: Parsed, _context: Context) -> Description:
    read, prefix = parsed.operands[:1], parsed.operands[1:2]
    return Description(
        known=True,
        operations=(Operation.READ, Operation.WRITE) if read else (Operation.WRITE,),
        targets=(*aimed(Access.READ, read), *aimed(Access.WRITE, prefix)),
        reads_stdin=not read or read[0].value == "-",
        writes_stdout=False,
    )


def _csplit(parsed: Parsed, _context: Context) -> Description:
    """csplit: the file, then patterns and line numbers where it is cut."""
    read = parsed.operands[:1]
    return Description(
        known=True,
        operations=(Operation.READ, Operation.WRITE),
        targets=(*aimed(Access.READ, read), *aimed(Access.WRITE, parsed.values("prefix"))),
        reads_stdin=bool(read) and read[0].value == "-",
        writes_stdout=False,
    )


def _pages(parsed: Parsed, context: Context) -> Description:
    """Pagers: +COMMAND is no file, -o keeps a copy of the input."""
    files = tuple(word for word in parsed.operands if not word.value.startswith("+"))
    copies = aimed(Access.WRITE, parsed.values("log-file", "LOG-FILE"))
    targets = (*aimed(Access.READ, files), *copies)
    operations = (Operation.READ,) if files else ()
    if copies:
        operations = (*operations, Operation.WRITE)
    return Description(known=True, operations=operations, targets=targets, reads_stdin=not files)


def _lists_below(parsed: Parsed, context: Context) -> Description:
    """Lists its operands, or the current directory."""
    words = parsed.operands or (literal("."),)
    targets = tuple(Target(Access.LIST, word, parsed.has("recursive")) for word in words)
    return Description(known=True, operations=(Operation.LIST,), targets=targets)


def _uudecode(parsed: Parsed, context: Context) -> Description:
    """The name of what it writes stands in the data unless -o gives one."""
    base = _encodes(parsed, context)
    return msgspec.structs.replace(
        base, operations=unique((*base.operations, Operation.DECODE, Operation.WRITE)), writes_stdout=False
    )


def _converts(parsed: Parsed, context: Context) -> Description:
    """Reads operands and writes one output, or rewrites them (dos2unix)."""
    base = reader()(parsed, context)
    written = aimed(Access.WRITE, parsed.values("output"))
    if not written:
        return base
    return Description(
        known=True,
        operations=(*base.operations, Operation.WRITE),
        targets=(*base.targets, *written),
        reads_stdin=base.reads_stdin,
        writes_stdout=False,
    )


PROGRAMS: Final = (
    program(
        "column col colrm",
        "~ c,output-width= s,separator= o,output-separator= N,table-columns= n,table-name= W,table-wrap= "
        "H,table-hide= R,table-right= E,table-noextreme= t,table J,json x",
        reader(),
        {"column -t a": "read read:a"},
    ),
    program(
        "tac gtac rev nl gnl fold fmt expand unexpand",
        "~ s,separator= b,body-numbering= w,width= c,columns= t,tabs=",
        reader(),
        {"fold -w 80 a": "read read:a", "nl -s ' ' a": "read read:a", "tac a": "read read:a"},
    ),
    program(
        "cat gcat zcat gzcat bzcat xzcat zstdcat lzcat bat batcat",
        "~ l,language= theme= style= H,highlight-line= r,line-range= m,map-syntax= terminal-width= wrap=",
        reader(),
        {
            "cat a b": "read read:a read:b",
            "cat -n -- -a": "read read:-a",
            "cat -": "<stdin",
            "cat --help": "preview",
            "cat $X": "read read:$",
            "bat -l py a": "read read:a",
        },
    ),
    program(
        "head ghead tail gtail",
        "# ~ c,bytes= n,lines= s,sleep-interval= pid= max-unchanged-stats= follow?",
        reader(),
        {
            "head -5 a": "read read:a",
            "tail -n +2 a": "read read:a",
            "tail -f log": "read read:log",
            "head --lines=3": "<stdin",
        },
    ),
    program(
        "less zless most more zmore",
        "# ~ p,pattern= o,log-file= O,LOG-FILE= t,tag= T= x= y= z= k= j= b= h= D= P= n,lines=",
        _pages,
        {
            "less -R a": "read read:a",
            "less +G log": "read read:log",
            "less -o copy a": "read write read:a write:copy",
        },
    ),
    program(
        "sort gsort",
        "b,ignore-leading-blanks d,dictionary-order f,ignore-case g,general-numeric-sort "
        "i,ignore-nonprinting "
        "M,month-sort h,human-numeric-sort n,numeric-sort R,random-sort random-source= r,reverse sort= "
        "V,version-sort batch-size= c,check? C compress-program= debug files0-from= k,key= m,merge "
        "o,output= s,stable S,buffer-size= t,field-separator= T,temporary-directory= parallel= u,unique "
        "z,zero-terminated",
        _sorts,
        {
            "sort -k 2 a": "read read:a",
            "sort -t, -k1,1 -u a b": "read read:a read:b",
            "sort -o a a": "read write read:a write:a >none",
            "sort --outp=x y": "read write read:y write:x >none",
        },
    ),
    program(
        "uniq guniq",
        "# ~ f,skip-fields= s,skip-chars= w,check-chars=",
        _reads_then_writes,
        {"uniq -c": "<stdin", "uniq a b": "read write read:a write:b >none"},
    ),
    program(
        "cut gcut paste gpaste",
        "~ b,bytes= c,characters= d,delimiters,delimiter= f,fields= output-delimiter=",
        reader(),
        {"cut -d: -f1 a": "read read:a", "paste -d, a -": "read read:a <stdin"},
    ),
    program(
        "wc gwc", "~ files0-from=", reader("files0-from"), {"wc -l a": "read read:a", "wc -lw": "<stdin"}
    ),
    program(
        "od god hexdump hd",
        "~ A,address-radix= j,skip-bytes= N,read-bytes= t,format= e= n,length= s,skip=",
        reader(),
        {"od -An -tx1 -N4 /dev/urandom": "read read:/dev/urandom", "hexdump -C -n 16 a": "read read:a"},
    ),
    program(
        "xxd",
        "a b C d E e i p,postscript,ps,plain r,revert u v c,cols= g,groupsize= l,len= n,name= o= R= s,seek=",
        _hexdump,
        {
            "xxd a": "read read:a",
            "xxd -r -p a b": "read write decode read:a write:b >none",
            "xxd -p": "<stdin",
        },
        style=Style.DASHED,
    ),
    program(
        "strings gstrings",
        "# ~ n,bytes= t,radix= e,encoding= T,target= s,output-separator=",
        reader(),
        {"strings -n 8 a": "read read:a"},
    ),
    program(
        "base64 gbase64 base32 basenc",
        "~ d,decode,D i w,wrap= b,break= input= o,output=",
        _encodes,
        {
            "base64 a": "read read:a",
            "base64 -d": "decode <stdin",
            "base64 --dec x": "read decode read:x",
            "base64 -w0 x": "read read:x",
            "base64 -D": "decode <stdin",
        },
    ),
    program(
        "uudecode",
        "~ o,output,output-file=",
        _uudecode,
        {
            "uudecode -o out a": "read write decode read:a write:out >none",
            "uudecode a": "read decode write read:a >none",
        },
    ),
    program(
        "uuencode",
        "m,base64",
        lambda p, c: reader()(p, c) if len(p.operands) > 1 else filters(p, c),
        {"uuencode a b": "read read:a read:b"},
    ),
    program(
        "file",
        "~ e,exclude= F,separator= f,files-from= m,magic-file= P,parameter=",
        reader("files-from"),
        {"file -b --mime-type x": "read read:x"},
    ),
    program("stat gstat", "~ c,format= printf= f t=", _stats, {"stat -c %s a": "metadata:a"}),
    program(
        "ls gls dir vdir eza exa lsd tree",
        "~ I,ignore= T,tabsize= w,width= R,recursive block-size= hide= L= P= sort= time= time-style= o=",
        _lists_below,
        {
            "ls": "list list:.",
            "ls -la a b": "list list:a list:b",
            "ls -R src": "list list:src/**",
            "ls -- -x": "list list:-x",
            "tree -L 2 src": "list list:src",
        },
    ),
    program(
        "du gdu ncdu dust",
        "~ d,max-depth= B,block-size= X,exclude-from= t,threshold= exclude= files0-from= time-style=",
        _lists_below,
        {"du -sh a": "list list:a", "du -d 1 x": "list list:x"},
    ),
    program(
        "df gdf lsblk blkid findmnt",
        "~ B,block-size= t,type= x,exclude-type= o,output=",
        neutral,
        {"df -h /": "", "lsblk -f": ""},
    ),
    program(
        "readlink greadlink realpath grealpath",
        "~ relative-to= relative-base=",
        _stats,
        {"readlink -f a": "metadata:a", "realpath --relative-to=. b": "metadata:b"},
    ),
    program(
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum xxhsum "
        "crc32 gsha256sum",
        "~ a,algorithm= l,length=",
        reader(),
        {"md5sum a": "read read:a", "shasum -a 256 a": "read read:a", "sha256sum -c sums": "read read:sums"},
    ),
    program(
        "diff gdiff colordiff cmp gcmp diff3 sdiff comm gcomm join gjoin",
        "# ~ I,ignore-matching-lines= x,exclude= X,exclude-from= U,unified= C,context= W,width= "
        "L,label= t,o= "
        "D,ifdef= F,show-function-line= j= e= 1 2 3 i,ignore-initial= n,bytes=",
        reader(),
        {
            "diff -u a b": "read read:a read:b",
            "diff -r -x .git a b": "read read:a read:b",
            "comm -12 a b": "read read:a read:b",
            "cmp a b": "read read:a read:b",
        },
    ),
    program(
        "jq yq gojq jaq",
        "~ f,from-file,fromfile= L= indent= tab i,in-place,inplace n,null-input args jsonargs",
        _jq,
        {
            "jq .a f.json": "read read:f.json",
            "jq env": "environment_read <stdin",
            "jq -n $ENV.X": "environment_read",
            "yq -i .a=1 f.yml": "read write read:f.yml write:f.yml +in-place",
        },
    ),
    program(
        "csplit gcsplit",
        "~ b,suffix-format= f,prefix= n,digits=",
        _csplit,
        {
            "csplit a /x/ 5": "read write read:a >none",
            "csplit -f out a /x/": "read write read:a write:out >none",
        },
    ),
    program(
        "split gsplit",
        "# ~ a,suffix-length= b,bytes= C,line-bytes= l,lines= n,number,digits= filter= "
        "additional-suffix= f,prefix= t,separator=",
        _split,
        {"split -l 10 a part": "read write read:a write:part >none", "split -b 1M": "write <stdin >none"},
    ),
    program("tr gtr", "~", filters, {"tr a b": "<stdin", "tr -d x": "<stdin"}),
    program(
        "look locate mlocate plocate",
        "~ d,database= l,limit= n=",
        acts(Operation.SEARCH),
        {"locate -i a": "search"},
    ),
    program(
        "man info apropos whatis tldr help",
        "~ M,manpath= s,sections= P,pager=",
        neutral,
        {"man ls": "", "apropos x": ""},
        previews="",
    ),
    program(
        "nm objdump readelf ldd size pahole otool dwarfdump",
        "~ j,section= M,disassembler-options=",
        reader(),
        {"readelf -h a": "read read:a", "ldd a": "read read:a"},
    ),
    program(
        "xmllint pandoc iconv xsltproc",
        "~ o,output= f,from,from-code= t,to,to-code= xpath= schema=",
        _converts,
        {
            "xmllint --xpath //a f.xml": "read read:f.xml",
            "pandoc -o out.html in.md": "read write read:in.md write:out.html >none",
        },
    ),
)
