"""Programs that make, copy, move and remove files, and change who may use them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from latch_contracts.facts import Access, Argument, Operation
from latchd.shell.grammar.description import Context, Description, Target
from latchd.shell.grammar.options import Parsed, Style, piece
from latchd.shell.grammar.program import aimed, flags, neutral, program


def _removes(parsed: Parsed, _context: Context) -> Description:
    recursive = parsed.has("recursive")
    return Description(
        known=True,
        operations=(Operation.DELETE,) if parsed.operands else (),
        targets=tuple(Target(Access.DELETE, word, recursive) for word in parsed.operands),
        details=flags(parsed, "recursive", "force", "interactive"),
        writes_stdout=False,
    )


def _removes_empty(parsed: Parsed, _context: Context) -> Description:
    return Description(
        known=True,
        operations=(Operation.DELETE,),
        targets=aimed(Access.DELETE, parsed.operands),
        details=("empty-only",),
        writes_stdout=False,
    )


def _shreds(parsed: Parsed, _context: Context) -> Description:
    """shred overwrites, which loses the content whether or not the name goes too."""
    targets = aimed(Access.WRITE, parsed.operands)
    return Description(
        known=True,
        operations=(Operation.WRITE, Operation.DELETE),
        targets=(*targets, *aimed(Access.DELETE, parsed.operands)),
        details=flags(parsed, "force"),
        writes_stdout=False,
    )


def _makes(parsed: Parsed, _context: Context) -> Description:
    return Description(
        known=True,
        operations=(Operation.WRITE,),
        targets=aimed(Access.WRITE, parsed.operands),
        writes_stdout=False,
    )


def _touches(parsed: Parsed, _context: Context) -> Description:
    """touch changes a file's times; its content stays, so it is metadata unless it makes the file."""
    return Description(
        known=True,
        operations=(Operation.WRITE,),
        targets=(
            *aimed(Access.APPEND, parsed.operands),
            *aimed(Access.METADATA, parsed.values("reference")),
        ),
        writes_stdout=False,
    )


def _tees(parsed: Parsed, _context: Context) -> Description:
    append = parsed.has("append")
    return Description(
        known=True,
        operations=(Operation.APPEND if append else Operation.WRITE,) if parsed.operands else (),
        targets=aimed(Access.APPEND if append else Access.WRITE, parsed.operands),
        reads_stdin=True,
    )


def placing(parsed: Parsed) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """Sources, and all that is written: the destination (-t DIR, or the last operand), and where that
    is shown to be a directory also the names the sources get in it."""
    directory = parsed.value("target-directory")
    if directory is not None:
        return parsed.operands, (directory, *_within(directory, parsed.operands))
    if len(parsed.operands) < 2:
        return parsed.operands, ()
    *sources, target = parsed.operands
    shown = len(sources) > 1 or target.value in (".", "..", "~") or target.value.endswith(("/", "/.", "/.."))
    if not shown or parsed.has("no-target-directory"):
        return tuple(sources), (target,)
    return tuple(sources), (target, *_within(target, sources))


def _within(directory: Argument, sources: Iterable[Argument]) -> Iterator[Argument]:
    for source in sources:
        name = source.value.rstrip("/").rpartition("/")[2]
        if name and name not in (".", "..") and not source.globs and not source.expands:
            value = f"{directory.value.rstrip('/')}/{name}"
            yield Argument(value=value, quote=directory.quote, expands=directory.expands)


def _copies(parsed: Parsed, _context: Context) -> Description:
    sources, written = placing(parsed)
    recursive = parsed.has("recursive", "archive")
    return Description(
        known=True,
        operations=(Operation.COPY, Operation.READ, Operation.WRITE),
        targets=(
            *(Target(Access.READ, word, recursive) for word in sources),
            *(Target(Access.WRITE, word) for word in written),
        ),
        details=(*(("recursive",) if recursive else ()), *flags(parsed, "force")),
        writes_stdout=parsed.has("verbose"),
    )


def _moves(parsed: Parsed, _context: Context) -> Description:
    sources, written = placing(parsed)
    return Description(
        known=True,
        operations=(Operation.MOVE, Operation.DELETE, Operation.WRITE),
        targets=(
            *(Target(Access.READ, word, recursive=True) for word in sources),
            *(Target(Access.DELETE, word, recursive=True) for word in sources),
            *(Target(Access.WRITE, word) for word in written),
        ),
        details=flags(parsed, "force"),
        writes_stdout=parsed.has("verbose"),
    )


def _links(parsed: Parsed, _context: Context) -> Description:
    """A hard link is the file under another name, so it counts as read; a symbolic one is seen through."""
    sources, written = placing(parsed)
    if not written:
        written = tuple(piece(word, word.value.rfind("/") + 1) for word in sources)
    taken = Access.METADATA if parsed.has("symbolic") else Access.READ
    return Description(
        known=True,
        operations=(Operation.WRITE,),
        targets=(*aimed(taken, sources), *aimed(Access.WRITE, written)),
        details=flags(parsed, "force"),
        writes_stdout=False,
    )


def _installs(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("directory"):
        return _makes(parsed, _context)
    sources, written = placing(parsed)
    return Description(
        known=True,
        operations=(Operation.COPY, Operation.READ, Operation.WRITE, Operation.PERMISSION_CHANGE),
        targets=(*aimed(Access.READ, sources), *aimed(Access.WRITE, written)),
        details=_mode_details(parsed.text("mode")),
        writes_stdout=False,
    )


def _mode_details(mode: str) -> tuple[str, ...]:
    """What a chmod mode opens: a symbolic one is read clause by clause."""
    found: list[str] = []
    if mode and mode.isdigit() and all(c in "01234567" for c in mode):
        bits = int(mode, 8)
        if bits & 0o002:
            found.append("world-writable")
        if bits & 0o6000:
            found.append("set-id")
        return tuple(found)
    for clause in mode.split(","):
        for sign in "+=":
            who, given, what = clause.partition(sign)
            if not given:
                continue
            if "w" in what and ("o" in who or "a" in who):
                found.append("world-writable")
            if "s" in what:
                found.append("set-id")
    return tuple(dict.fromkeys(found))


def _changes_mode(parsed: Parsed, _context: Context) -> Description:
    """chmod: the first word is the mode unless --reference; `-w` and the like are modes too."""
    modes = [word for word in parsed.words if _is_minus_mode(word.value)]
    operands = parsed.operands
    mode = ""
    if modes:
        mode = modes[0].value
    elif operands and not parsed.has("reference"):
        mode, operands = operands[0].value, operands[1:]
    recursive = parsed.has("recursive")
    return Description(
        known=True,
        operations=(Operation.PERMISSION_CHANGE,),
        targets=tuple(Target(Access.METADATA, word, recursive) for word in operands),
        details=(*(("recursive",) if recursive else ()), *_mode_details(mode)),
        writes_stdout=False,
    )


def _is_minus_mode(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and all(c in "rwxXst" for c in word[1:])


def _changes_owner(parsed: Parsed, _context: Context) -> Description:
    operands = parsed.operands if parsed.has("reference") else parsed.operands[1:]
    recursive = parsed.has("recursive")
    return Description(
        known=True,
        operations=(Operation.PERMISSION_CHANGE,),
        targets=tuple(Target(Access.METADATA, word, recursive) for word in operands),
        details=flags(parsed, "recursive"),
        writes_stdout=False,
    )


def _changes_attributes(parsed: Parsed, _context: Context) -> Description:
    """setfacl, chattr, setcap, xattr: everything after the first word that is no option is a file."""
    files = parsed.operands if parsed.has("modify", "remove", "remove-all", "set") else parsed.operands[1:]
    details = ("set-id",) if any("cap_" in word.value for word in parsed.operands[:1]) else ()
    return Description(
        known=True,
        operations=(Operation.PERMISSION_CHANGE,),
        targets=tuple(Target(Access.METADATA, word, parsed.has("recursive")) for word in files),
        details=(*flags(parsed, "recursive"), *details),
        writes_stdout=False,
    )


def _rewrites(parsed: Parsed, _context: Context) -> Description:
    """Rewrites each operand in its place (dos2unix, truncate-like converters)."""
    return Description(
        known=True,
        operations=(Operation.READ, Operation.WRITE),
        targets=(*aimed(Access.READ, parsed.operands), *aimed(Access.WRITE, parsed.operands)),
        details=("in-place",),
        writes_stdout=False,
    )


def _renames(parsed: Parsed, _context: Context) -> Description:
    """rename: perl's takes one expression, util-linux' two texts; -n only shows."""
    files = tuple(word for word in parsed.operands[1:])
    if parsed.has("no-act"):
        return Description(known=True)
    return Description(
        known=True,
        operations=(Operation.MOVE, Operation.DELETE, Operation.WRITE),
        targets=(*aimed(Access.DELETE, files), *aimed(Access.WRITE, files)),
        details=flags(parsed, "force"),
    )


def _trashes(parsed: Parsed, _context: Context) -> Description:
    """The files go to a bin: gone from their place, not lost."""
    return Description(
        known=True,
        operations=(Operation.MOVE, Operation.DELETE),
        targets=aimed(Access.DELETE, parsed.operands),
        writes_stdout=False,
    )


_COPY: Final = (
    "a,archive attributes-only b,backup? copy-contents d f,force i,interactive H l,link L,dereference "
    "n,no-clobber P,no-dereference p preserve? no-preserve= parents R,r,recursive reflink? "
    "remove-destination "
    "sparse= strip-trailing-slashes s,symbolic-link S,suffix= t,target-directory= T,no-target-directory "
    "u,update? v,verbose x,one-file-system Z context? c X debug"
)

PROGRAMS: Final = (
    program(
        "rm grm",
        "f,force i I interactive? one-file-system no-preserve-root preserve-root? r,R,recursive d,dir "
        "v,verbose P W x",
        _removes,
        {
            "rm a": "delete delete:a >none",
            "rm -rf build x": "delete delete:build/** delete:x/** +recursive +force >none",
            "rm --recursive --force a": "delete delete:a/** +recursive +force >none",
            "rm -r -f -- -x": "delete delete:-x/** +recursive +force >none",
            "rm -rf $X/y": "delete delete:$/y/** +recursive +force >none",
            "rm *.md": "delete delete:*.md >none",
            "rm --rec a": "delete delete:a/** +recursive >none",
            "rm -q a": "delete delete:a +unknown-option >none",
            "rm --help": "preview",
            "rm a --help": "delete delete:a >none",
        },
    ),
    program("unlink gunlink", "", _removes, {"unlink a": "delete delete:a >none"}),
    program(
        "rmdir grmdir",
        "ignore-fail-on-non-empty p,parents v,verbose",
        _removes_empty,
        {"rmdir -p a/b": "delete delete:a/b +empty-only >none"},
    ),
    program(
        "trash trash-put gio-trash rip", "~", _trashes, {"trash a b": "move delete delete:a delete:b >none"}
    ),
    program(
        "shred gshred srm wipe",
        "f,force n,iterations= random-source= s,size= u remove? v,verbose x,exact z,zero r,recursive",
        _shreds,
        {
            "shred -u a": "write delete write:a delete:a >none",
            "shred -n 3 /dev/sda": "write delete disk_write write:/dev/sda delete:/dev/sda +disk-loss >none",
        },
    ),
    program(
        "truncate gtruncate fallocate",
        "c,no-create o,io-blocks,offset= r,reference= s,size= l,length= n,keep-size p,punch-hole "
        "z,zero-range "
        "d,dig-holes x,posix v,verbose",
        _makes,
        {"truncate -s 0 a": "write write:a >none", "fallocate -l 1G f": "write write:f >none"},
    ),
    program(
        "cp gcp",
        _COPY,
        _copies,
        {
            "cp a b": "copy read write read:a write:b >none",
            "cp -r src/ dst": "copy read write read:src//** write:dst +recursive >none",
            "cp -t d a b": "copy read write read:a read:b write:d write:d/a write:d/b >none",
            "cp a d/": "copy read write read:a write:d/ write:d/a >none",
            "cp -a --target-directory=d a": "copy read write read:a/** write:d write:d/a +recursive >none",
        },
    ),
    program(
        "mv gmv",
        _COPY + " exchange no-copy",
        _moves,
        {
            "mv a b": "move delete write read:a/** delete:a/** write:b >none",
            "mv -f a b d/": (
                "move delete write read:a/** read:b/** delete:a/** delete:b/** write:d/ write:d/a "
                "write:d/b +force >none"
            ),
            "mv -t d a": "move delete write read:a/** delete:a/** write:d write:d/a >none",
        },
    ),
    program(
        "ln gln",
        "b,backup? d,F,directory f,force i,interactive L,logical n,no-dereference P,physical r,relative "
        "s,symbolic S,suffix= t,target-directory= T,no-target-directory v,verbose h w",
        _links,
        {
            "ln -s a b": "write metadata:a write:b >none",
            "ln a b": "write read:a write:b >none",
            "ln -sf /usr/bin/x": "write metadata:/usr/bin/x write:x +force >none",
            "ln -sfn a d/": "write metadata:a write:d/ write:d/a +force >none",
        },
    ),
    program(
        "install ginstall",
        "b backup? c C,compare d,directory D g,group= m,mode= o,owner= p,preserve-timestamps "
        "s,strip strip-program= S,suffix= t,target-directory= T,no-target-directory v,verbose Z",
        _installs,
        {
            "install -m 755 a /usr/local/bin/a": (
                "copy read write permission_change read:a write:/usr/local/bin/a >none"
            ),
            "install -d a/b": "write write:a/b >none",
            "install -m 4755 a b": "copy read write permission_change read:a write:b +set-id >none",
        },
    ),
    program(
        "tee gtee sponge",
        "a,append i,ignore-interrupts p output-error?",
        _tees,
        {"tee a": "write write:a <stdin", "tee -a a b": "append append:a append:b <stdin", "tee": "<stdin"},
    ),
    program(
        "touch gtouch",
        "a c,no-create d,date= f h,no-dereference m r,reference= t= time= A=",
        _touches,
        {
            "touch a b": "write append:a append:b >none",
            "touch -d yesterday a": "write append:a >none",
            "touch -r old new": "write append:new metadata:old >none",
        },
    ),
    program(
        "mkdir gmkdir mkfifo gmkfifo",
        "m,mode= p,parents v,verbose Z context?",
        _makes,
        {"mkdir -p a/b": "write write:a/b >none", "mkdir -m 700 a": "write write:a >none"},
    ),
    program(
        "mktemp gmktemp",
        "d,directory u,dry-run q,quiet suffix= p,tmpdir= t V",
        neutral,
        {"mktemp -d": "", "mktemp -u": ""},
    ),
    program(
        "chmod gchmod",
        "c,changes f,silent,quiet v,verbose R,recursive reference= no-preserve-root preserve-root "
        "r w x X s t H L P h",
        _changes_mode,
        {
            "chmod +x a": "permission_change metadata:a >none",
            "chmod -R 777 d": "permission_change metadata:d/** +recursive +world-writable >none",
            "chmod u+s a": "permission_change metadata:a +set-id >none",
            "chmod -w a": "permission_change metadata:a >none",
            "chmod o+w a b": "permission_change metadata:a metadata:b +world-writable >none",
            "chmod 4755 a": "permission_change metadata:a +set-id >none",
        },
    ),
    program(
        "chown gchown chgrp gchgrp",
        "c,changes f,silent,quiet v,verbose R,recursive reference= from= h,no-dereference "
        "dereference no-preserve-root preserve-root H L P x n",
        _changes_owner,
        {
            "chown -R me:me d": "permission_change metadata:d/** +recursive >none",
            "chgrp staff a": "permission_change metadata:a >none",
            "chown --reference=a b": "permission_change metadata:b >none",
        },
    ),
    program(
        "setfacl chattr setcap xattr chcon",
        "R,recursive m,modify= x,remove= b,remove-all k set= d,w,c,p r n v q i=",
        _changes_attributes,
        {
            "setfacl -m u:x:rw a": "permission_change metadata:a >none",
            "chattr +i a": "permission_change metadata:a >none",
            "setcap cap_net_raw+ep a": "permission_change metadata:a +set-id >none",
        },
    ),
    program(
        "dos2unix unix2dos fromdos todos",
        "~",
        _rewrites,
        {"dos2unix a": "read write read:a write:a +in-place >none"},
    ),
    program(
        "rename prename perl-rename mmv zmv",
        "n,no-act,dry-run,nono f,force v,verbose s,symlink i,interactive o l a",
        _renames,
        {
            "rename s/a/b/ x y": "move delete write delete:x delete:y write:x write:y",
            "rename -n s/a/b/ x": "",
        },
        style=Style.PERMUTE,
    ),
)
