"""Programs that read files or stdin and print: nothing here writes unless an option says so."""

from __future__ import annotations

from typing import Final

from latch_contracts.facts import Access, Operation

from .description import Context, Description, Target
from .options import Parsed
from .program import Program, aimed, neutral, program, reader


def _lists(parsed: Parsed, _context: Context) -> Description:
    targets = tuple(Target(Access.LIST, word, parsed.has("recursive")) for word in parsed.operands)
    return Description(known=True, operations=(Operation.LIST,), targets=targets)


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


_PAGER: Final = (
    "# e E f i I N n,line-numbers R r,raw-control-chars S s u X F p= o,log-file= O,LOG-FILE= P= t,tag= "
    "T= x= y= z= k= j= b= h= K L M m G g c C d a w q Q"
)

PROGRAMS: Final = (
    program(
        "cat gcat zcat bzcat xzcat zstdcat lzcat gzcat",
        "A,show-all b,number-nonblank e E,show-ends n,number s,squeeze-blank t T,show-tabs u v,show-nonprinting "
        "f,force l,list q,quiet d,decompress c,stdout",
        reader(),
        {
            "cat a b": "read read:a read:b",
            "cat -n -- -a": "read read:-a",
            "cat -": "<stdin",
            "cat --help": "preview",
            "zcat x.gz": "read read:x.gz",
        },
    ),
    program(
        "head ghead",
        "# c,bytes= n,lines= q,quiet,silent v,verbose z,zero-terminated",
        reader(),
        {"head -5 a": "read read:a", "head -n 5 -- b": "read read:b", "head --lines=3": "<stdin"},
    ),
    program(
        "tail gtail",
        "# c,bytes= n,lines= q,quiet,silent v,verbose z,zero-terminated f,follow? F s,sleep-interval= pid= "
        "retry max-unchanged-stats= r",
        reader(),
        {"tail -f log": "read read:log", "tail -n +2 a": "read read:a", "tail -20f x": "read read:x"},
    ),
    program(
        "less zless most",
        _PAGER,
        reader(),
        {"less -R a": "read read:a", "less +G log": "read read:+G read:log"},
    ),
    program(
        "more zmore",
        "# d l f p c s u n,lines= e,exit-on-eof",
        reader(),
        {"more a": "read read:a", "more -5 a": "read read:a"},
    ),
    program(
        "nl gnl",
        "b,body-numbering= d,section-delimiter= f,footer-numbering= h,header-numbering= i,line-increment= "
        "l,join-blank-lines= n,number-format= p,no-renumber s,number-separator= v,starting-line-number= "
        "w,number-width=",
        reader(),
        {"nl -ba a": "read read:a", "nl -s ' ' a": "read read:a"},
    ),
    program(
        "tac gtac", "b,before r,regex s,separator=", reader(), {"tac a": "read read:a", "tac -s x": "<stdin"}
    ),
    program("rev", "z,zero", reader(), {"rev a": "read read:a", "rev": "<stdin"}),
    program(
        "sort gsort",
        "b,ignore-leading-blanks d,dictionary-order f,ignore-case g,general-numeric-sort i,ignore-nonprinting "
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
        "# c,count d,repeated D all-repeated? f,skip-fields= group? i,ignore-case s,skip-chars= u,unique "
        "z,zero-terminated w,check-chars=",
        _reads_then_writes,
        {"uniq -c": "<stdin", "uniq a b": "read write read:a write:b >none"},
    ),
    program(
        "cut gcut",
        "b,bytes= c,characters= d,delimiter= f,fields= n complement s,only-delimited output-delimiter= "
        "z,zero-terminated",
        reader(),
        {"cut -d: -f1 a": "read read:a", "cut -f 2": "<stdin"},
    ),
    program(
        "paste gpaste", "d,delimiters= s,serial z,zero-terminated", reader(), {"paste -d, a -": "read read:a <stdin"}
    ),
    program(
        "wc gwc",
        "c,bytes m,chars l,lines files0-from= L,max-line-length w,words total=",
        reader("files0-from"),
        {"wc -l a": "read read:a", "wc -lw": "<stdin"},
    ),
    program(
        "od god",
        "A,address-radix= endian= j,skip-bytes= N,read-bytes= S,strings? t,format= v,output-duplicates "
        "w,width? traditional a b c d f i l o s x",
        reader(),
        {"od -c a": "read read:a", "od -An -tx1 -N4 /dev/urandom": "read read:/dev/urandom"},
    ),
    program(
        "xxd",
        "a,autoskip b,bits c,cols= C,capitalize d E,EBCDIC e g,groupsize= i,include l,len= n,name= o= "
        "p,ps,plain,postscript r,revert R= s,seek= u,uppercase v",
        _hexdump,
        {"xxd a": "read read:a", "xxd -r p": "read decode read:p", "xxd -p": "<stdin"},
        style=Style_DASHED,
    ),
    program(
        "hexdump hd",
        "b,one-byte-octal c,one-byte-char C,canonical d,two-bytes-decimal e,format= f,format-file= L,color? "
        "n,length= o,two-bytes-octal s,skip= v,no-squeezing x,two-bytes-hex X",
        reader("format-file"),
        {"hexdump -C -n 16 a": "read read:a"},
    ),
    program(
        "strings gstrings",
        "a,all d,data f,print-file-name n,bytes= t,radix= e,encoding= o T,target= w,include-all-whitespace "
        "s,output-separator= U,unicode= #",
        reader(),
        {"strings -n 8 a": "read read:a"},
    ),
    program(
        "base64 gbase64 base32 basenc basez",
        "d,decode D i,ignore-garbage w,wrap= b,break= input= o,output= base64 base64url base32 base32hex base16 "
        "base2msbf base2lsbf z85",
        _encodes,
        {
            "base64 a": "read read:a",
            "base64 -d": "decode <stdin",
            "base64 --dec x": "read decode read:x",
            "base64 -w0 x": "read read:x",
        },
    ),
    program(
        "uudecode", "o,output-file,output= c", lambda p, c: _encodes(p, c),
        {"uudecode -o out a": "read write read:a write:out >none"},
    ),
    program(
        "file",
        "b,brief C,compile c,checking-printout e,exclude= E f,files-from= F,separator= h,no-dereference i,mime "
        "k,keep-going l,list L,dereference m,magic-file= mime-type mime-encoding N,no-pad n,no-buffer "
        "p,preserve-date P,parameter= r,raw s,special-files S z,uncompress Z 0,print0 d apple extension",
        reader("files-from"),
        {"file a": "read read:a", "file -b --mime-type x": "read read:x"},
    ),
    program(
        "stat gstat",
        "L,dereference f,file-system,file= c,format= printf= t,terse= x s n q r l F cached=",
        _stats,
        {"stat -c %s a": "metadata:a"},
    ),
)
