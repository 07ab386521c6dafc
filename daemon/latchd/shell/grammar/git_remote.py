"""git subcommands that talk to other repositories, read file contents or change configuration."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, NetAction, Operation
from latchd.shell.grammar.description import PREVIEW, Contact, Context, Description, Target, unique
from latchd.shell.grammar.options import Parsed, literal, piece
from latchd.shell.grammar.program import acts, aimed, program

_EXECUTING: Final = frozenset(
    "core.hookspath core.fsmonitor core.sshcommand core.pager core.editor core.askpass core.gitproxy "
    "core.alternaterefscommand "
    "core.attributesfile core.worktree sequence.editor credential.helper gpg.program "
    "gpg.openpgp.program gpg.ssh.program "
    "gpg.x509.program gpg.ssh.defaultkeycommand include.path init.templatedir "
    "uploadpack.packobjectshook diff.external "
    "interactive.difffilter http.proxy sendemail.sendmailcmd sendemail.smtpserver ssh.variant "
    "web.browser".split()
)
_EXECUTING_TREES: Final = {
    "filter": ("clean", "smudge", "process"),
    "diff": ("command", "textconv"),
    "difftool": ("cmd", "path"),
    "mergetool": ("cmd", "path"),
    "merge": ("driver",),
    "man": ("cmd", "path"),
    "browser": ("cmd", "path"),
    "url": ("insteadof", "pushinsteadof"),
    "protocol": ("allow",),
    "includeif": ("path",),
    "pager": (),
    "credential": ("helper",),
    "remote": ("proxy", "uploadpack", "receivepack", "vcs"),
    "submodule": ("update",),
    "tar": ("command",),
    "trailer": ("command", "cmd"),
    "hook": ("command",),
    "http": ("proxy",),
}


# Values that name a program which does no more than the key is for.
_PLAIN_KEYS: Final = frozenset(
    "core.pager core.editor core.fsmonitor core.askpass core.sshcommand sequence.editor credential.helper "
    "gpg.program gpg.ssh.program web.browser diff.external interactive.difffilter".split()
)
_PLAIN: Final = re.compile(
    r"(?:(?:cat|less|more|most|delta|bat|true|false|:|vim?|nvim|nano|emacs|code|subl|hx|micro|gedit|kate|cache"
    r"|store|osxkeychain|manager|manager-core|libsecret|wincred|gpg2?|ssh|ssh-keygen)(?:\s+-{1,2}[A-Za-z+-]+)*)?\Z"
)


# `ssh` with a key or a port, and the login helper of the gh client: nothing in them names another program.
_SSH_OPTION: Final = r"(?:-i\s{0,4}[\w./~@+-]{1,256}|-[46AaCqTvx]{1,8}|-p\s{0,4}\d{1,5}|-F\s{0,4}/dev/null"
_PLAIN_SSH: Final = re.compile(
    rf"(?:ssh|/usr/bin/ssh)(?:\s{{1,8}}{_SSH_OPTION}"
    r"|-o\s{0,4}(?:IdentitiesOnly|StrictHostKeyChecking|BatchMode)=\w{1,16}))*\s*\Z"
)
_PLAIN_HELPER: Final = re.compile(
    r"!(?:/usr/bin/|/usr/local/bin/|/opt/homebrew/bin/)?gh auth git-credential\s*\Z"
)


# Transports that git knows itself; `ext` is the one whose address is a command.
_OWN_TRANSPORTS: Final = frozenset(
    f"protocol.{name}.allow" for name in ("file", "git", "ssh", "http", "https")
)


def _is_plain(key: str, section: str, value: str) -> bool:
    if key in _OWN_TRANSPORTS:
        return True
    if key == "core.sshcommand" and _PLAIN_SSH.match(value):
        return True
    if section == "credential" and key.endswith(".helper") and _PLAIN_HELPER.match(value):
        return True
    return (key in _PLAIN_KEYS or section in ("pager", "credential")) and _PLAIN.match(value) is not None


def executing_key(key: str, value: str = "!") -> bool:
    """Whether git runs a key's value, or lets it decide what runs or where data goes."""
    key = key.lower()
    section, _, rest = key.partition(".")
    if section == "alias":
        return value.startswith("!") or "\0" in value[:1]
    if _is_plain(key, section, value):
        return False
    if key in _EXECUTING:
        return True
    if section not in _EXECUTING_TREES or not rest:
        return False
    wanted = _EXECUTING_TREES[section]
    return not wanted or ("." in rest and rest.rpartition(".")[2] in wanted)


def is_address(word: str) -> bool:
    """A URL or host:path, told from a remote's name or a local path."""
    return "://" in word or (":" in word and not word.startswith(("/", ".", ":", "+")))


def _contact(action: NetAction, words: tuple[Argument, ...]) -> tuple[Contact, ...]:
    return tuple(
        Contact(action, word)
        for word in words
        if is_address(word.value) and not word.value.startswith("file:")
    )


def _clones(parsed: Parsed, _context: Context) -> Description:
    source, place = parsed.operands[:1], parsed.operands[1:2]
    if source and not place:
        name = source[0].value.rstrip("/").removesuffix(".git").rpartition("/")[2].rpartition(":")[2]
        place = (literal(name),) if name else ()
    details = ("executing-config",) if _executing_values(parsed.values("config")) else ()
    return Description(
        known=True,
        operations=(Operation.CONNECT, Operation.FETCH, Operation.WRITE),
        targets=aimed(Access.WRITE, place),
        contacts=_contact(NetAction.DOWNLOAD, source),
        details=(*details, *(("child-command",) if parsed.has("upload-pack") else ())),
        saves=place,
    )


def _executing_values(pairs: tuple[Argument, ...]) -> bool:
    split = (word.value.partition("=") for word in pairs)
    return any(executing_key(key, value) for key, _, value in split)


def _fetches(parsed: Parsed, _context: Context) -> Description:
    forced = parsed.has("force") or any(word.value.startswith("+") for word in parsed.operands[1:])
    details = ("child-command",) if parsed.has("upload-pack") else ()
    return Description(
        known=True,
        operations=(Operation.CONNECT, Operation.FETCH),
        contacts=_contact(NetAction.DOWNLOAD, parsed.operands[:1]),
        details=(
            *details,
            *(("force",) if forced else ()),
            *(("history-loss",) if forced and any(map(_names_branch, parsed.operands[1:])) else ()),
        ),
    )


def _names_branch(word: Argument) -> bool:
    """A refspec whose destination is a branch of one's own, not what is kept of the remote's."""
    place = word.value.partition(":")[2]
    return bool(place) and (place.startswith("refs/heads/") or not place.startswith("refs/"))


def _pushes(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("dry-run"):
        return PREVIEW
    refs = [word.value for word in parsed.operands[1:]]
    deletes = parsed.has("delete") or any(ref.startswith((":", "+:")) and len(ref) > 1 for ref in refs)
    forced = parsed.has("force", "mirror", "prune") or any(ref.startswith("+") or ":+" in ref for ref in refs)
    details: list[str] = []
    if deletes or forced:
        details.append("remote-loss")
    if deletes:
        details.append("ref-delete")
    if forced and parsed.has("force"):
        details.append("force")
    if parsed.has("mirror", "all", "prune") and (deletes or forced):
        details.append("all-refs")
    if parsed.has("force-with-lease", "force-if-includes") and not forced:
        details.append("lease")
    if parsed.has("no-verify"):
        details.append("hooks-bypass")
    if parsed.has("receive-pack"):
        details.append("child-command")
    place = (*parsed.values("repo"), *parsed.operands[:1])
    contacts = _contact(NetAction.UPLOAD, place)
    operations = [Operation.CONNECT]
    if contacts:
        operations.append(Operation.UPLOAD)
    if "remote-loss" in details:
        operations.append(Operation.WORK_LOSS)
    return Description(known=True, operations=tuple(operations), contacts=contacts, details=tuple(details))


def _remotes(parsed: Parsed, _context: Context) -> Description:
    verb = parsed.operands[0].value if parsed.operands else "list"
    if verb in ("add", "set-url", "rename", "remove", "rm", "set-head", "set-branches"):
        operations = [Operation.CONFIG_CHANGE]
        if verb == "add" and parsed.has("fetch"):
            operations += [Operation.CONNECT, Operation.FETCH]
        return Description(
            known=True,
            operations=tuple(operations),
            contacts=_contact(NetAction.DOWNLOAD, parsed.operands[2:3] if parsed.has("fetch") else ()),
        )
    if verb in ("show", "update", "prune") and (len(parsed.operands) > 1 or verb == "update"):
        return Description(known=True, operations=(Operation.CONNECT,))
    return Description(known=True)


def _submodules(parsed: Parsed, _context: Context) -> Description:
    verb = parsed.operands[0].value if parsed.operands else "status"
    if verb == "foreach":
        return Description(known=True, operations=(Operation.EXECUTE,), details=("child-command",))
    if verb == "update" and parsed.has("force"):
        return Description(  # what was changed in the submodules is gone
            known=True,
            operations=(Operation.CONNECT, Operation.FETCH, Operation.WORK_LOSS),
            details=("discard-work", "force"),
        )
    if verb in ("add", "update"):
        return Description(
            known=True,
            operations=(Operation.CONNECT, Operation.FETCH, Operation.WRITE),
            contacts=_contact(NetAction.DOWNLOAD, parsed.operands[1:2]),
            details=("force",) if parsed.has("force") else (),
        )
    if verb == "deinit" and parsed.has("force"):
        return Description(
            known=True,
            operations=(Operation.WORK_LOSS, Operation.DELETE),
            targets=tuple(Target(Access.DELETE, word, recursive=True) for word in parsed.operands[1:]),
            details=("discard-work", "force"),
        )
    return Description(known=True)


_PATCHES: Final = ("patch", "u", "cc", "L", "unified", "patch-with-stat", "patch-with-raw", "word-diff")
_SUMMARIES: Final = (
    "name-only",
    "name-status",
    "stat",
    "numstat",
    "shortstat",
    "summary",
    "dirstat",
    "quiet",
)


def _logs(parsed: Parsed, context: Context) -> Description:
    """log: the contents of the files it is limited to are shown with a patch option alone."""
    return _shown(parsed, _shows(parsed, context), contents=parsed.has(*_PATCHES))


def _differences(parsed: Parsed, context: Context) -> Description:
    """diff: contents, unless only names or counts are asked for."""
    contents = not parsed.has(*_SUMMARIES) or parsed.has("patch", "u", "patch-with-stat")
    return _shown(parsed, _shows(parsed, context), contents=contents)


def _shown(parsed: Parsed, described: Description, *, contents: bool) -> Description:
    if contents or parsed.has("no-index"):
        return described
    known = tuple(
        msgspec.structs.replace(target, access=Access.METADATA) if target.access is Access.READ else target
        for target in described.targets
    )
    return msgspec.structs.replace(described, targets=known)


def _shows(parsed: Parsed, _context: Context) -> Description:
    """show, cat-file, diff, log, blame, grep: file contents as they were; REF:path names a file."""
    after = parsed.words.index(literal("--")) if literal("--") in parsed.words else None
    paths = [piece(w, w.value.index(":") + 1) for w in parsed.operands if _names_blob(w.value)]
    if after is not None:
        paths += parsed.words[after + 1 :]
    elif parsed.has("no-index"):
        paths += parsed.operands
    else:  # a path may stand where a revision does
        paths += [word for word in parsed.operands if _looks_like_file(word.value)]
    written = parsed.values("output")
    pager = parsed.has("open-files-in-pager", "ext-diff", "textconv")
    return Description(
        known=True,
        operations=unique(
            (
                Operation.READ,
                *((Operation.WRITE,) if written else ()),
                *((Operation.EXECUTE,) if pager else ()),
            )
        ),
        targets=(*aimed(Access.READ, paths), *aimed(Access.WRITE, written)),
        details=("child-command",) if parsed.has("open-files-in-pager") else (),
        writes_stdout=not written,
    )


def _looks_like_file(word: str) -> bool:
    name = word.rpartition("/")[2]
    return ":" not in word and ".." not in word and (name.startswith(".") or name.partition(".")[2].isalpha())


def _names_blob(word: str) -> bool:
    _, colon, path = word.partition(":")
    return bool(colon and path) and not path.startswith(("(", "!", "^")) and "//" not in path[:2]


def _blames(parsed: Parsed, _context: Context) -> Description:
    files = parsed.operands[-1:]
    return Description(known=True, operations=(Operation.READ,), targets=aimed(Access.READ, files))


def _greps(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("open-files-in-pager"):
        return Description(
            known=True, operations=(Operation.SEARCH, Operation.EXECUTE), details=("child-command",)
        )
    after = parsed.words.index(literal("--")) if literal("--") in parsed.words else len(parsed.words)
    named = parsed.words[after + 1 :]
    return Description(known=True, operations=(Operation.SEARCH,), targets=aimed(Access.READ, named))


def _archives(parsed: Parsed, _context: Context) -> Description:
    written = parsed.values("output")
    remote = parsed.values("remote")
    operations = (
        Operation.READ,
        *((Operation.WRITE,) if written else ()),
        *((Operation.CONNECT, Operation.FETCH) if remote else ()),
    )
    return Description(
        known=True,
        operations=operations,
        targets=(*aimed(Access.READ, parsed.operands[1:]), *aimed(Access.WRITE, written)),
        contacts=_contact(NetAction.DOWNLOAD, remote),
        details=("child-command",) if parsed.has("exec") else (),
        writes_stdout=not written,
    )


def _bundles(parsed: Parsed, _context: Context) -> Description:
    verb = parsed.operands[0].value if parsed.operands else ""
    files = parsed.operands[1:2]
    if verb == "create":
        return Description(known=True, operations=(Operation.WRITE,), targets=aimed(Access.WRITE, files))
    return Description(known=True, operations=(Operation.READ,), targets=aimed(Access.READ, files))


def _formats_patches(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("stdout"):
        return Description(known=True)
    places = parsed.values("output-directory", "output") or (literal("."),)
    return Description(known=True, operations=(Operation.WRITE,), targets=aimed(Access.WRITE, places))


_CONFIG_READS: Final = (
    "get",
    "get-all",
    "get-regexp",
    "get-urlmatch",
    "list",
    "get-color",
    "get-colorbool",
    "name-only",
    "show-origin",
)


def _configures(parsed: Parsed, _context: Context) -> Description:
    """config: reading unless a value is given; the new verbs (set, unset …) are operands."""
    words = parsed.operands
    verb = words[0].value if words else ""
    if verb in ("get", "list"):
        return _config_read(parsed)
    if verb in ("set", "unset", "rename-section", "remove-section", "edit"):
        words = words[1:]
    elif parsed.has(*_CONFIG_READS) or (
        len(words) < 2 and not parsed.has("unset", "unset-all", "remove-section", "rename-section", "edit")
    ):
        return _config_read(parsed)
    key = words[0].value if words else ""
    value = words[1].value if len(words) > 1 else ""
    unset = verb == "unset" or parsed.has("unset", "unset-all")
    runs = executing_key(key, value) and not unset
    edits = verb == "edit" or parsed.has("edit")
    places = parsed.values("file")
    if not places and (runs or edits):
        wide = parsed.has("global"), parsed.has("system")
        places = (literal("~/.gitconfig" if wide[0] else "/etc/gitconfig" if wide[1] else ".git/config"),)
    return Description(
        known=True,
        operations=(Operation.CONFIG_CHANGE,),
        targets=aimed(Access.WRITE, places),
        details=("executing-config",) if runs else (),
        writes_stdout=False,
    )


def _config_read(parsed: Parsed) -> Description:
    secret = any(word.value.lower().endswith("extraheader") for word in parsed.operands)
    return Description(
        known=True,
        operations=(*((Operation.CREDENTIAL_READ,) if secret else ()), Operation.READ),
        targets=aimed(Access.READ, parsed.values("file")),
    )


def _credentials(parsed: Parsed, _context: Context) -> Description:
    verb = parsed.operands[0].value if parsed.operands else ""
    if verb in ("fill", "get"):
        return Description(known=True, operations=(Operation.CREDENTIAL_READ,), reads_stdin=True)
    return Description(known=True, operations=(Operation.CONFIG_CHANGE,), reads_stdin=True)


def _large_files(parsed: Parsed, _context: Context) -> Description:
    verb = parsed.operands[0].value if parsed.operands else ""
    operations = {
        "fetch": (Operation.CONNECT, Operation.FETCH),
        "pull": (Operation.CONNECT, Operation.FETCH),
        "push": (Operation.CONNECT,),
        "clone": (Operation.CONNECT, Operation.FETCH, Operation.WRITE),
        "install": (Operation.CONFIG_CHANGE,),
    }.get(verb, ())
    return Description(known=True, operations=operations)


_SHOW: Final = (
    "~ output= n,max-count= S= G= L= since= after= until= before= author= grep= format= "
    "ext-diff textconv no-index O= l= U,unified= diff-filter= stat? word-diff? color? e p,patch t s u cc "
    "batch? path= patch-with-stat patch-with-raw name-only name-status numstat shortstat summary dirstat? "
    "quiet"
)

CHILDREN: Final = (
    program(
        "clone",
        "~ b,branch= depth= o,origin= c,config= reference= template= u,upload-pack= j,jobs= "
        "separate-git-dir= "
        "filter= shallow-since= shallow-exclude= recurse-submodules? server-option= bundle-uri=",
        _clones,
        {
            "git clone https://example.com/a.git": (
                "connect fetch write write:a download@https://example.com/a.git save=a"
            ),
            "git clone git@example.com:o/a b": (
                "connect fetch write write:b download@git@example.com:o/a save=b"
            ),
            "git clone -c core.hooksPath=x ../a": "connect fetch write write:a save=a +executing-config",
        },
    ),
    program(
        "fetch pull ls-remote fetch-pack",
        "~ depth= deepen= j,jobs= shallow-since= shallow-exclude= o,server-option= "
        "upload-pack= f,force refmap= s,strategy= X,strategy-option= sort= filter= negotiation-tip=",
        _fetches,
        {
            "git fetch origin": "connect fetch",
            "git pull --rebase": "connect fetch",
            "git ls-remote https://example.com/a": "connect fetch download@https://example.com/a",
            "git fetch origin +a:a": "connect fetch +force +history-loss",
            "git fetch origin a:a": "connect fetch",
            "git fetch origin +refs/heads/*:refs/remotes/origin/*": "connect fetch +force",
        },
    ),
    program(
        "push send-pack http-push",
        "~ f,force mirror d,delete prune force-with-lease? force-if-includes n,dry-run no-verify "
        "repo= o,push-option= receive-pack,exec= all,branches tags u,set-upstream follow-tags q,quiet "
        "v,verbose atomic "
        "signed? recurse-submodules= thin",
        _pushes,
        {
            "git push": "connect",
            "git push -u origin main": "connect",
            "git push --force": "connect work_loss +remote-loss +force",
            "git push origin +main": "connect work_loss +remote-loss",
            "git push origin :old": "connect work_loss +remote-loss +ref-delete",
            "git push origin --delete old": "connect work_loss +remote-loss +ref-delete",
            "git push --mirror": "connect work_loss +remote-loss +all-refs",
            "git push --force-with-lease origin x": "connect +lease",
            "git push -nf": "preview",
            "git push --no-verify": "connect +hooks-bypass",
            "git push https://example.com/a.git main": "connect upload upload@https://example.com/a.git",
            "git push -fu origin x": "connect work_loss +remote-loss +force",
            "git push origin :": "connect",
            "git push origin refs/heads/a:+refs/heads/a": "connect work_loss +remote-loss",
            "git push --force-with-lease origin +x": "connect work_loss +remote-loss",
        },
    ),
    program(
        "remote",
        "~ f,fetch t= m= tags",
        _remotes,
        {
            "git remote -v": "",
            "git remote add x https://example.com/a": "config_change",
            "git remote show origin": "connect",
        },
    ),
    program(
        "submodule",
        "~ b,branch= name= reference= depth= j,jobs= f,force init recursive",
        _submodules,
        {
            "git submodule update --init": "connect fetch write",
            "git submodule update -f": "connect fetch work_loss +discard-work +force",
            "git submodule foreach 'git status'": "execute +child-command",
            "git submodule deinit -f x": "work_loss delete delete:x/** +discard-work +force",
        },
    ),
    program(
        "show cat-file",
        _SHOW,
        _shows,
        {"git show HEAD:src/.env": "read read:src/.env", "git cat-file -p HEAD:a": "read read:a"},
    ),
    program(
        "log",
        _SHOW,
        _logs,
        {
            "git log -p -- .env": "read read:.env",
            "git log -- .env": "read metadata:.env",
            "git log -L1,5:a": "read",
            "git log --follow -p .env": "read read:.env",
            "git log -p v1.2 main..x": "read",
            "git log --oneline -5": "read",
        },
    ),
    program(
        "diff",
        _SHOW,
        _differences,
        {
            "git diff": "read",
            "git diff -- a": "read read:a",
            "git diff --stat -- a": "read metadata:a",
            "git diff --stat -p -- a": "read read:a",
            "git diff --output=x a b": "read write write:x >none",
            "git diff --no-index a b": "read read:a read:b",
        },
    ),
    program(
        "blame",
        "~ L= S= contents= since= ignore-rev= ignore-revs-file=",
        _blames,
        {"git blame -L 1,5 a": "read read:a"},
    ),
    program(
        "grep",
        "~ e= f= A= B= C= m,max-count= max-depth= threads= O,open-files-in-pager?",
        _greps,
        {
            "git grep x": "search",
            "git grep x -- a": "search read:a",
            "git grep -Oless x": "search execute +child-command",
        },
    ),
    program(
        "archive",
        "~ o,output= remote= exec= format= prefix= add-file=",
        _archives,
        {
            "git archive -o a.zip HEAD": "read write write:a.zip >none",
            "git archive HEAD .env": "read read:.env",
            "git archive --remote=git@example.com:a HEAD": "read connect fetch download@git@example.com:a",
        },
    ),
    program("bundle", "~", _bundles, {"git bundle create a.bundle HEAD": "write write:a.bundle"}),
    program(
        "format-patch",
        "~ o,output-directory= stdout output= n,numbered v,reroll-count= start-number=",
        _formats_patches,
        {"git format-patch -o out HEAD~1": "write write:out", "git format-patch --stdout HEAD~1": ""},
    ),
    program(
        "config",
        "~ global system local worktree f,file= blob= get get-all get-regexp get-urlmatch name-only "
        "show-origin "
        "show-scope add replace-all unset unset-all rename-section remove-section l,list e,edit "
        "t,type= default= "
        "bool int path get-color get-colorbool comment= value=",
        _configures,
        {
            "git config user.name x": "config_change >none",
            "git config core.hooksPath /tmp/h": "config_change write:.git/config +executing-config >none",
            "git config --global alias.x '!sh'": "config_change write:~/.gitconfig +executing-config >none",
            "git config --get user.name": "read",
            "git config --global core.editor 'code --wait'": "config_change >none",
            "git config credential.helper store": "config_change >none",
            "git config credential.helper '!gh auth git-credential'": "config_change >none",
            "git config core.sshCommand 'ssh -i ~/.ssh/k'": "config_change >none",
            "git config credential.helper '!x'": "config_change write:.git/config +executing-config >none",
            "git config --get http.extraheader": "credential_read read",
            "git config -l": "read",
            "git config set core.sshCommand x": "config_change write:.git/config +executing-config >none",
            "git config --unset core.hooksPath": "config_change >none",
            "git config -f a b.c d": "config_change write:a >none",
            "git config alias.st status": "config_change >none",
        },
    ),
    program(
        "credential credential-store credential-cache credential-manager credential-osxkeychain "
        "credential-libsecret",
        "~ file= timeout= socket=",
        _credentials,
        {"git credential fill": "credential_read <stdin", "git credential approve": "config_change <stdin"},
    ),
    program("lfs", "~ I= X=", _large_files, {"git lfs pull": "connect fetch", "git lfs ls-files": ""}),
    program(
        "svn p4 http-fetch imap-send send-email", "~", acts(Operation.CONNECT), {"git svn fetch": "connect"}
    ),
)
