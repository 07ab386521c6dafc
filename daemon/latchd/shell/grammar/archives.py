"""Archives and compressors: what goes in is read, what comes out is written."""

from __future__ import annotations

from typing import Final

from latch_contracts.facts import Access, Argument, Operation
from latchd.shell.grammar.description import Context, Description, Target, unique
from latchd.shell.grammar.options import Parsed, below, grammar, literal, parse, piece
from latchd.shell.grammar.program import aimed, program

_TAR: Final = (
    "~ A,catenate,concatenate c,create d,diff,compare delete r,append t,list u,update x,extract,get "
    "f,file= C,directory= "
    "b,blocking-factor= T,files-from= X,exclude-from= exclude= g,listed-incremental= "
    "I,use-compress-program= K,starting-file= "
    "N,newer,after-date= V,label= L,tape-length= strip-components= transform,xform= to-command= "
    "checkpoint-action= checkpoint? "
    "owner= group= mode= mtime= O,to-stdout remove-files sort= F,info-script= rsh-command= s= "
    "P,absolute-names "
    "one-top-level? warning= format= H="
)


def _old_style(parsed: Parsed) -> Parsed:
    """``tar xzf a.tar``: the first word is a cluster without its dash, its values follow in order."""
    words = parsed.words
    if not words or words[0].value.startswith("-") or not words[0].value.isalpha():
        return parsed
    letters, rest = words[0].value, list(words[1:])
    spelled: list[Argument] = []
    for letter in letters:
        spelled.append(literal(f"-{letter}"))
        option = _TAR_OPTIONS.spellings.get(letter)
        if option is not None and option.arity.value == "value" and rest:
            spelled.append(rest.pop(0))
    return parse(_TAR_OPTIONS, [*spelled, *rest])


_TAR_OPTIONS: Final = grammar(_TAR)


def _tars(parsed: Parsed, _context: Context) -> Description:
    parsed = _old_style(parsed)
    archive = tuple(w for w in parsed.values("file"))
    placed, places = _placed(parsed)
    operations: list[Operation] = []
    targets: list[Target] = []
    if parsed.has("to-command", "use-compress-program", "checkpoint-action", "info-script", "rsh-command"):
        operations.append(Operation.EXECUTE)
    details = ("child-command",) if operations else ()
    if parsed.has("extract"):
        operations += [Operation.READ]
        targets += aimed(Access.READ, archive)
        if not parsed.has("to-stdout"):
            operations.append(Operation.WRITE)
            targets += [Target(Access.WRITE, word, recursive=True) for word in places]
            if parsed.has("absolute-names"):
                targets.append(Target(Access.WRITE, literal("/"), recursive=True))
    elif parsed.has("list", "diff"):
        operations.append(Operation.READ)
        targets += aimed(Access.READ, archive)
    else:
        inputs = placed
        operations += [Operation.READ, Operation.WRITE]
        targets += aimed(Access.READ, (*inputs, *parsed.values("files-from")), recursive=True)
        targets += aimed(Access.WRITE, archive)
        if parsed.has("remove-files"):
            operations.append(Operation.DELETE)
            targets += [Target(Access.DELETE, word, recursive=True) for word in inputs]
    extracts_archive = parsed.has("extract", "list")
    return Description(
        known=True,
        operations=unique(operations),
        targets=tuple(targets),
        details=details,
        reads_stdin=extracts_archive and (not archive or archive[-1].value == "-"),
        writes_stdout=(not extracts_archive and (not archive or archive[-1].value == "-"))
        or parsed.has("to-stdout", "list"),
    )


def _placed(parsed: Parsed) -> tuple[list[Argument], list[Argument]]:
    """The operands, each below the -C ahead of it, and the directories; one -C starts from the one before."""
    words: list[Argument] = []
    places: list[Argument] = []
    for given in parsed.order:
        if given.value is None:
            continue
        if given.name == "directory":
            places.append(below(places[-1], given.value) if places else given.value)
        elif not given.name:
            words.append(below(places[-1], given.value) if places else given.value)
    return words, places or [literal(".")]


def _zips(parsed: Parsed, _context: Context) -> Description:
    archive, inputs = parsed.operands[:1], parsed.operands[1:]
    moved = parsed.has("move")
    operations = [Operation.READ, Operation.WRITE, *([Operation.DELETE] if moved else [])]
    if parsed.has("unzip-command"):
        operations.append(Operation.EXECUTE)
    return Description(
        known=True,
        operations=tuple(operations),
        targets=(
            *aimed(Access.READ, inputs, recursive=parsed.has("recurse-paths")),
            *aimed(Access.WRITE, archive),
            *(Target(Access.DELETE, word, recursive=True) for word in inputs if moved),
        ),
        details=("child-command",) if parsed.has("unzip-command") else (),
        writes_stdout=bool(archive) and archive[0].value == "-",
    )


def _unzips(parsed: Parsed, _context: Context) -> Description:
    archive = parsed.operands[:1]
    targets = aimed(Access.READ, archive)
    if parsed.has("l", "t", "v", "p", "Z", "z", "c"):
        return Description(known=True, operations=(Operation.READ,), targets=targets)
    places = parsed.values("d") or (literal("."),)
    return Description(
        known=True,
        operations=(Operation.READ, Operation.WRITE),
        targets=(*targets, *(Target(Access.WRITE, word, recursive=True) for word in places)),
        writes_stdout=False,
    )


_SUFFIXES: Final = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".lzma", ".br", ".Z", ".lz")


def _compresses(parsed: Parsed, _context: Context) -> Description:
    """gzip and kin replace each file by another: the original goes unless -k or -c."""
    files = parsed.operands
    if not files or parsed.has("stdout", "list", "test"):
        return Description(
            known=True,
            operations=(Operation.READ,) if files else (),
            targets=aimed(Access.READ, files),
            reads_stdin=not files,
        )
    outputs = parsed.values("o")
    written: list[Argument] = list(outputs)
    for word in () if outputs else files:
        suffix = next((s for s in _SUFFIXES if word.value.endswith(s)), "")
        written.append(piece(word, 0, len(word.value) - len(suffix)) if suffix else word)
    keeps = parsed.has("keep")
    return Description(
        known=True,
        operations=(Operation.READ, Operation.WRITE, *(() if keeps else (Operation.MOVE,))),
        targets=(*aimed(Access.READ, files), *aimed(Access.WRITE, written)),
        details=() if keeps else ("in-place",),
        writes_stdout=False,
    )


def _sevens(parsed: Parsed, _context: Context) -> Description:
    """7z: COMMAND ARCHIVE [FILES], switches with their values attached."""
    verb = parsed.operands[0].value if parsed.operands else ""
    archive, files = parsed.operands[1:2], parsed.operands[2:]
    places = parsed.values("o") or (literal("."),)
    if verb in ("x", "e"):
        return Description(
            known=True,
            operations=(Operation.READ, Operation.WRITE),
            targets=(
                *aimed(Access.READ, archive),
                *(Target(Access.WRITE, word, recursive=True) for word in places),
            ),
        )
    if verb in ("a", "u", "d", "rn"):
        return Description(
            known=True,
            operations=(Operation.READ, Operation.WRITE),
            targets=(*aimed(Access.READ, files, recursive=True), *aimed(Access.WRITE, archive)),
        )
    return Description(
        known=True, operations=(Operation.READ,) if archive else (), targets=aimed(Access.READ, archive)
    )


def _cpios(parsed: Parsed, _context: Context) -> Description:
    archive = parsed.values("file", "F", "I", "O")
    if parsed.has("extract") and not parsed.has("list"):
        places = parsed.values("directory") or (literal("."),)
        return Description(
            known=True,
            operations=(Operation.READ, Operation.WRITE),
            targets=(
                *aimed(Access.READ, archive),
                *(Target(Access.WRITE, w, recursive=True) for w in places),
            ),
            reads_stdin=not archive,
        )
    if parsed.has("pass-through"):
        return Description(
            known=True,
            operations=(Operation.COPY, Operation.WRITE),
            targets=aimed(Access.WRITE, parsed.operands[:1]),
            reads_stdin=True,
        )
    access = Access.READ if parsed.has("list") else Access.WRITE
    operation = Operation.READ if parsed.has("list") else Operation.WRITE
    return Description(
        known=True,
        operations=(operation,) if archive else (),
        targets=aimed(access, archive),
        reads_stdin=True,
    )


PROGRAMS: Final = (
    program(
        "tar gtar bsdtar",
        _TAR,
        _tars,
        {
            "tar -czf a.tgz src": "read write read:src/** write:a.tgz >none",
            "tar xzf a.tgz": "read write read:a.tgz write:./** >none",
            "tar -xf a.tar -C /opt": "read write read:a.tar write:/opt/** >none",
            "tar tf a.tar": "read read:a.tar",
            "tar cf - . ": "read write read:./**",
            "tar -xzOf a.tgz f": "read read:a.tgz",
            "tar czf a.tgz -C /x y": "read write read:/x/y/** write:a.tgz >none",
            "tar --create --file a.tar --remove-files b": (
                "read write delete read:b/** write:a.tar delete:b/** >none"
            ),
            "tar xf a --to-command=sh": "execute read write read:a write:./** +child-command >none",
            "| tar xz": "read write write:./** <stdin >none",
        },
    ),
    program(
        "zip",
        "~ r,recurse-paths m,move x,exclude i,include T TT,unzip-command= b= t= P,password= s= n= O= "
        "d,delete u q j",
        _zips,
        {
            "zip -r a.zip src": "read write read:src/** write:a.zip >none",
            "zip -m a.zip f": "read write delete read:f write:a.zip delete:f/** >none",
        },
    ),
    program(
        "unzip funzip bsdunzip unrar",
        "~ d= P= x l t v p Z z c o",
        _unzips,
        {
            "unzip a.zip": "read write read:a.zip write:./** >none",
            "unzip -l a.zip": "read read:a.zip",
            "unzip -o a.zip -d out": "read write read:a.zip write:out/** >none",
        },
    ),
    program(
        "gzip gunzip pigz unpigz bzip2 bunzip2 pbzip2 xz unxz lzma unlzma pixz zstd unzstd lz4 "
        "compress uncompress brotli lzip",
        "# ~ k,keep c,stdout,to-stdout l,list t,test d,decompress f,force S,suffix= o= T,threads= b= D= p=",
        _compresses,
        {
            "gzip a": "read write move read:a write:a +in-place >none",
            "gunzip a.gz": "read write move read:a.gz write:a +in-place >none",
            "gzip -c a": "read read:a",
            "xz -k a": "read write read:a write:a >none",
            "gzip -9": "<stdin",
            "zstd -d a.zst -o b": "read write move read:a.zst write:b +in-place >none",
        },
    ),
    program(
        "7z 7za 7zr 7zz p7zip rar",
        "~ o? p? x? w? m? t? v? i?",
        _sevens,
        {
            "7z x a.7z -oout": "read write read:a.7z write:out/**",
            "7z a a.7z src": "read write read:src/** write:a.7z",
            "7z l a.7z": "read read:a.7z",
        },
    ),
    program(
        "cpio pax ar",
        "~ i,extract o,create p,pass-through t,list F,file= D,directory= H,format= I= O= E= R=",
        _cpios,
        {
            "cpio -idm": "read write write:./** <stdin",
            "cpio -o -F a.cpio": "write write:a.cpio <stdin",
            "cpio -pdm dst": "copy write write:dst <stdin",
        },
    ),
)
