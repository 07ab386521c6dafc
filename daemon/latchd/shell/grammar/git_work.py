"""git subcommands that change the worktree, the index or refs — and lose work in some of their forms.

WORK_LOSS means that something is given up which git does not keep elsewhere, or keeps only where
nobody looks. Moving a ref whose reflog stays is a detail (history-loss), not a loss.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, Operation
from latchd.shell.grammar.description import PREVIEW, Context, Description, Target
from latchd.shell.grammar.options import Parsed
from latchd.shell.grammar.program import acts, aimed, executes, flags, neutral, program

_LOSS: Final = (Operation.WORK_LOSS,)
_SAFE: Final = Description(known=True)


def lost(*details: str, targets: tuple[Target, ...] = ()) -> Description:
    return Description(known=True, operations=_LOSS, targets=targets, details=details)


def _resets(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("hard", "merge"):
        return lost("discard-work", *(("hard",) if parsed.has("hard") else ()))
    return Description(known=True, details=("preserves-work",) if parsed.has("keep") else ())


def _after_dashes(parsed: Parsed) -> tuple[Argument, ...] | None:
    for at, word in enumerate(parsed.words):
        if word.value == "--":
            return parsed.words[at + 1 :]
    return None


def _checks_out(parsed: Parsed, _context: Context) -> Description:
    """checkout is two commands: switch to a ref, or overwrite paths, told apart by its words."""
    if parsed.has("force"):
        return lost("discard-work", "force")
    if parsed.has("pathspec-from-file"):
        return lost("discard-work")
    paths = _after_dashes(parsed)
    if paths is None:
        paths = _checkout_paths(parsed)
    if parsed.has("patch"):
        return lost("discard-work", "interactive", targets=aimed(Access.WRITE, paths))
    if paths:
        return lost("discard-work", targets=aimed(Access.WRITE, paths))
    return Description(known=True, details=("history-loss",) if parsed.has("B") else ())


def _checkout_paths(parsed: Parsed) -> tuple[Argument, ...]:
    operands = parsed.operands
    if parsed.has("ours", "theirs"):
        return operands
    if parsed.has("b", "B", "orphan", "detach", "track"):
        return ()
    if len(operands) == 1:
        return operands if _is_path(operands[0]) else ()
    return operands if operands and _is_path(operands[0]) else operands[1:]


def _is_path(word: Argument) -> bool:
    """Whether a lone word of checkout is a path by its look: branch names rarely end like files."""
    value = word.value
    if value in (".", "..") or value.startswith(("./", "../", "/", "~/", ":/", ":(")) or word.globs:
        return True
    if value.endswith("/"):
        return True
    stem, dot, extension = value.rpartition("/")[2].rpartition(".")
    if not dot:
        return False
    return extension.isalpha() and len(extension) <= 5 and not stem[-1:].isdigit() and extension != "x"


def _switches(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("force"):
        return lost("discard-work", "force")
    return Description(known=True, details=("history-loss",) if parsed.has("force-create") else ())


def _restores(parsed: Parsed, _context: Context) -> Description:
    """The worktree unless told otherwise; with both sides said or refused only what was said last counts."""
    sides = {"staged": False, "worktree": False}
    said = [given.name for given in parsed.given if given.name.removeprefix("no-") in sides]
    for name in said:
        sides[name.removeprefix("no-")] = not name.startswith("no-")
    if said and not sides["worktree"]:  # the index alone, or neither, which git refuses
        return _SAFE
    details = ("interactive",) if parsed.has("patch") else ()
    return lost("discard-work", *details, targets=aimed(Access.WRITE, parsed.operands))


def _cleans(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("dry-run"):
        return PREVIEW
    if parsed.has("interactive") and not parsed.has("force"):
        return Description(known=True, details=("interactive",))
    if not parsed.has("force"):  # git refuses, unless clean.requireForce is off
        return _SAFE
    return Description(
        known=True,
        operations=(Operation.WORK_LOSS, Operation.DELETE),
        targets=tuple(Target(Access.DELETE, word, recursive=True) for word in parsed.operands),
        details=("discard-work", "force"),
    )


def _stashes(parsed: Parsed, _context: Context) -> Description:
    verb = parsed.operands[0].value if parsed.operands else "push"
    return lost("discard-work", "stash") if verb in ("drop", "clear") else _SAFE


def _branches(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("D") or (parsed.has("delete") and parsed.has("force")):
        return lost("ref-delete", "history-loss", "force")
    if parsed.has("delete"):
        return Description(known=True, details=("ref-delete", "preserves-work"))
    # `-M main` renames the branch one is on, as every new repository is told to
    forced = parsed.has("force", "C") or (parsed.has("M") and len(parsed.operands) > 1)
    return Description(known=True, details=("history-loss",) if forced else ())


def _tags(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("delete"):
        return lost("ref-delete")
    return Description(
        known=True,
        targets=aimed(Access.READ, parsed.values("file")),
        details=("history-loss",) if parsed.has("force") else (),
    )


def _removes(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("dry-run"):
        return PREVIEW
    if parsed.has("cached"):
        return _SAFE
    forced = parsed.has("force")
    return Description(
        known=True,
        operations=(Operation.WORK_LOSS, Operation.DELETE) if forced else (Operation.DELETE,),
        targets=tuple(Target(Access.DELETE, word, parsed.has("r")) for word in parsed.operands),
        details=("discard-work", "force") if forced else ("preserves-work",),
    )


def _moves(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("dry-run"):
        return PREVIEW
    return Description(
        known=True,
        operations=(Operation.MOVE, Operation.DELETE, Operation.WRITE),
        targets=(
            *aimed(Access.DELETE, parsed.operands[:-1], recursive=True),
            *aimed(Access.WRITE, parsed.operands[-1:]),
        ),
        details=flags(parsed, "force"),
    )


def _rebases(parsed: Parsed, context: Context) -> Description:
    if parsed.has("abort"):
        return lost("discard-work", "abort")
    if parsed.has("exec"):
        return Description(known=True, operations=(Operation.EXECUTE,), details=("child-command",))
    return _may_abort(parsed, context)


def _may_abort(parsed: Parsed, _context: Context) -> Description:
    """merge, am, cherry-pick, revert: --abort drops the resolutions made so far."""
    if parsed.has("abort"):
        return lost("discard-work", "abort")
    return Description(known=True, details=("hooks-bypass",) if parsed.has("no-verify") else ())


def _worktrees(parsed: Parsed, _context: Context) -> Description:
    verb = parsed.operands[0].value if parsed.operands else "list"
    places = parsed.operands[1:]
    if verb == "remove":
        forced = parsed.has("force")
        return Description(
            known=True,
            operations=(Operation.WORK_LOSS, Operation.DELETE) if forced else (Operation.DELETE,),
            targets=tuple(Target(Access.DELETE, word, recursive=True) for word in places),
            details=("discard-work", "force") if forced else ("preserves-work",),
        )
    if verb in ("add", "move"):
        written = places[:1] if verb == "add" else places[1:2]
        return Description(known=True, operations=(Operation.WRITE,), targets=aimed(Access.WRITE, written))
    return _SAFE


def _reflogs(parsed: Parsed, _context: Context) -> Description:
    verb = parsed.operands[0].value if parsed.operands else "show"
    if verb not in ("delete", "expire"):
        return _SAFE
    if parsed.has("dry-run"):
        return PREVIEW
    return lost("history-loss", *(("all-refs",) if parsed.has("all") else ()))


def _updates_ref(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("stdin"):
        return Description(known=True, details=("opaque-code",), reads_stdin=True)
    return (
        lost("ref-delete")
        if parsed.has("d", "delete")
        else Description(known=True, details=("history-loss",))
    )


def _deletes_symref(parsed: Parsed, _context: Context) -> Description:
    return lost("ref-delete") if parsed.has("delete") else _SAFE


def _filters(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("analyze", "dry-run"):
        return _SAFE
    return Description(
        known=True,
        operations=(Operation.WORK_LOSS, Operation.EXECUTE),
        details=("history-loss", "child-command"),
    )


def _collects(parsed: Parsed, _context: Context) -> Description:
    when = parsed.text("prune")
    return lost("history-loss") if _SOON.match(when) else _SAFE


# From now on, or from a few moments ago: nothing that was let go is kept.
_SOON: Final = re.compile(r"(?:now|all|0|\d{1,2}[ .](?:second|minute)s?[ .]ago)\Z")


def _prunes(parsed: Parsed, _context: Context) -> Description:
    return PREVIEW if parsed.has("dry-run") else lost("history-loss")


def _reads_tree(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("dry-run"):
        return PREVIEW
    return lost("discard-work") if parsed.has("reset") and parsed.has("u") else _SAFE


def _checks_out_index(parsed: Parsed, _context: Context) -> Description:
    if not parsed.has("force"):
        return _SAFE
    return lost("discard-work", "force", targets=aimed(Access.WRITE, parsed.operands))


def _commits(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("dry-run"):
        return PREVIEW
    read = aimed(Access.READ, parsed.values("file", "template", "pathspec-from-file"))
    return Description(
        known=True,
        operations=(Operation.READ,) if read else (),
        targets=read,
        details=("hooks-bypass",) if parsed.has("no-verify") else (),
        reads_stdin=parsed.text("file") == "-",
    )


def _applies(parsed: Parsed, _context: Context) -> Description:
    """apply writes the files that the patch names; git refuses paths outside the worktree."""
    read = aimed(Access.READ, parsed.operands)
    quiet = parsed.has("check", "stat", "numstat", "summary") and not parsed.has("apply")
    operations = (*((Operation.READ,) if read else ()), *(() if quiet else (Operation.WRITE,)))
    base = Description(known=True, operations=operations, targets=read, reads_stdin=not parsed.operands)
    if parsed.has("unsafe-paths"):
        return msgspec.structs.replace(base, details=("force",))
    return base


def _bisects(parsed: Parsed, context: Context) -> Description:
    if parsed.operands and parsed.operands[0].value == "run":
        return Description(known=True, operations=(Operation.EXECUTE,), details=("child-command",))
    return _SAFE


CHILDREN: Final = (
    program(
        "reset",
        "q,quiet mixed soft hard merge keep N,intent-to-add p,patch recurse-submodules? "
        "no-recurse-submodules "
        "pathspec-from-file= pathspec-file-nul refresh no-refresh U,unified=",
        _resets,
        {
            "git reset --hard": "work_loss +discard-work +hard",
            "git reset --har HEAD~1": "work_loss +discard-work +hard",
            "git reset --merge": "work_loss +discard-work",
            "git reset --keep x": "+preserves-work",
            "git reset HEAD a": "",
            "git reset --soft HEAD~1": "",
            "git reset --hard --help": "preview",
        },
    ),
    program(
        "checkout co",
        "q,quiet progress no-progress f,force ours,2 theirs,3 b= B= t,track? no-track guess no-guess l "
        "d,detach orphan= "
        "ignore-skip-worktree-bits m,merge conflict= p,patch ignore-other-worktrees overwrite-ignore "
        "recurse-submodules? overlay no-overlay pathspec-from-file= pathspec-file-nul U,unified= "
        "inter-hunk-context=",
        _checks_out,
        {
            "git checkout main": "",
            "git checkout -- a b": "work_loss write:a write:b +discard-work",
            "git checkout .": "work_loss write:. +discard-work",
            "git checkout HEAD~2 src": "work_loss write:src +discard-work",
            "git checkout -b new origin/main": "",
            "git checkout -f": "work_loss +discard-work +force",
            "git checkout README.md": "work_loss write:README.md +discard-work",
            "git checkout v1.2": "",
            "git checkout -B main": "+history-loss",
            "git checkout -p -- a": "work_loss write:a +discard-work +interactive",
            "git checkout -p HEAD~1": "work_loss +discard-work +interactive",
            "git checkout main -- ": "",
            "git checkout -qf main": "work_loss +discard-work +force",
            "git checkout $X": "",
        },
    ),
    program(
        "switch",
        "c,create= C,force-create= guess no-guess f,force,discard-changes d,detach t,track? no-track "
        "orphan= m,merge "
        "q,quiet progress no-progress recurse-submodules? conflict= ignore-other-worktrees",
        _switches,
        {
            "git switch main": "",
            "git switch --discard-changes x": "work_loss +discard-work +force",
            "git switch -f x": "work_loss +discard-work +force",
            "git switch -c new": "",
            "git switch --discard x": "work_loss +discard-work +force",
        },
    ),
    program(
        "restore",
        "s,source= S,staged W,worktree no-staged "
        "no-worktree p,patch ignore-unmerged overlay no-overlay ours,2 theirs,3 "
        "m,merge conflict= "
        "q,quiet progress no-progress recurse-submodules? pathspec-from-file= pathspec-file-nul "
        "ignore-skip-worktree-bits "
        "U,unified= inter-hunk-context=",
        _restores,
        {
            "git restore --no-staged a": "",
            "git restore -S --no-staged a": "",
            "git restore --no-worktree a": "",
            "git restore --no-staged -W a": "work_loss write:a +discard-work",
            "git restore --no-worktree -S a": "",
            "git restore -p a": "work_loss write:a +discard-work +interactive",
            "git restore -pS a": "",
            "git restore a": "work_loss write:a +discard-work",
            "git restore --staged a": "",
            "git restore -SW .": "work_loss write:. +discard-work",
            "git restore --source=HEAD a": "work_loss write:a +discard-work",
        },
    ),
    program(
        "clean",
        "d f,force i,interactive n,dry-run q,quiet e,exclude= x X",
        _cleans,
        {
            "git clean -fd": "work_loss delete +discard-work +force",
            "git clean -n": "preview",
            "git clean -nfd": "preview",
            "git clean --force -dx build": "work_loss delete delete:build/** +discard-work +force",
            "git clean -d": "",
            "git clean -i": "+interactive",
        },
    ),
    program(
        "stash",
        "~ m,message= pathspec-from-file= p,patch u,include-untracked a,all k,keep-index",
        _stashes,
        {
            "git stash": "",
            "git stash drop stash@{1}": "work_loss +discard-work +stash",
            "git stash clear": "work_loss +discard-work +stash",
            "git stash pop": "",
        },
    ),
    program(
        "branch",
        "~ d,delete D f,force m,move M c,copy C r,remotes a,all l,list u,set-upstream-to= contains? "
        "merged? no-merged? "
        "sort= points-at= format= abbrev? color? track? column? no-contains?",
        _branches,
        {
            "git branch": "",
            "git branch -D x": "work_loss +ref-delete +history-loss +force",
            "git branch -d x": "+ref-delete +preserves-work",
            "git branch -df x": "work_loss +ref-delete +history-loss +force",
            "git branch --delete --force x": "work_loss +ref-delete +history-loss +force",
            "git branch -f main HEAD~3": "+history-loss",
            "git branch -M main": "",
            "git branch -M old main": "+history-loss",
        },
    ),
    program(
        "tag",
        "~ a,annotate s,sign u,local-user= f,force d,delete v,verify m,message= F,file= l,list? n? "
        "contains? sort= format= "
        "points-at= merged? cleanup=",
        _tags,
        {
            "git tag v1": "",
            "git tag -d v1": "work_loss +ref-delete",
            "git tag -a v1 -m x": "",
            "git tag -f v1": "+history-loss",
        },
    ),
    program(
        "rm",
        "f,force n,dry-run r cached ignore-unmatch q,quiet sparse pathspec-from-file= "
        "pathspec-file-nul U,unified= inter-hunk-context=",
        _removes,
        {
            "git rm a": "delete delete:a +preserves-work",
            "git rm -rf src": "work_loss delete delete:src/** +discard-work +force",
            "git rm --cached a": "",
            "git rm -n a": "preview",
        },
    ),
    program(
        "mv",
        "f,force k n,dry-run v,verbose sparse",
        _moves,
        {"git mv a b": "move delete write delete:a/** write:b"},
    ),
    program(
        "rebase",
        "~ abort continue skip quit edit-todo show-current-patch onto= x,exec= i,interactive s,strategy= "
        "X,strategy-option= keep-base root C= whitespace= no-verify",
        _rebases,
        {
            "git rebase main": "",
            "git rebase --abort": "work_loss +discard-work +abort",
            "git rebase -x make main": "execute +child-command",
            "git rebase --ab": "work_loss +discard-work +abort",
        },
    ),
    program(
        "merge cherry-pick revert am",
        "~ abort continue quit skip m,message= F,file= s,strategy= X,strategy-option= "
        "n,no-commit no-verify S,gpg-sign? mainline= cleanup= into-name= C= p= directory= exclude= include=",
        _may_abort,
        {
            "git merge x": "",
            "git merge --abort": "work_loss +discard-work +abort",
            "git cherry-pick --abort": "work_loss +discard-work +abort",
            "git revert -n HEAD": "",
        },
    ),
    program(
        "worktree",
        "~ f,force b= B= d,detach reason= expire= orphan",
        _worktrees,
        {
            "git worktree remove --force ../x": "work_loss delete delete:../x/** +discard-work +force",
            "git worktree remove ../x": "delete delete:../x/** +preserves-work",
            "git worktree add -b n ../x": "write write:../x",
            "git worktree list": "",
        },
    ),
    program(
        "reflog",
        "~ expire= expire-unreachable= all n,dry-run updateref rewrite",
        _reflogs,
        {
            "git reflog": "",
            "git reflog expire --expire=now --all": "work_loss +history-loss +all-refs",
            "git reflog delete HEAD@{1}": "work_loss +history-loss",
        },
    ),
    program(
        "update-ref",
        "d m= z no-deref create-reflog stdin",
        _updates_ref,
        {
            "git update-ref -d refs/heads/x": "work_loss +ref-delete",
            "git update-ref refs/heads/x HEAD": "+history-loss",
            "git update-ref --stdin": "+opaque-code <stdin",
        },
    ),
    program(
        "symbolic-ref",
        "d,delete q,quiet m= short recurse",
        _deletes_symref,
        {"git symbolic-ref -d X": "work_loss +ref-delete"},
    ),
    program(
        "filter-branch filter-repo",
        "~ force analyze dry-run env-filter= tree-filter= index-filter= parent-filter= "
        "msg-filter= commit-filter= tag-name-filter= subdirectory-filter= path= path-glob= invert-paths",
        _filters,
        {
            "git filter-branch --tree-filter x HEAD": "work_loss execute +history-loss +child-command",
            "git filter-repo --path a": "work_loss execute +history-loss +child-command",
            "git filter-repo --analyze": "",
        },
    ),
    program(
        "gc",
        "~ prune? aggressive auto",
        _collects,
        {
            "git gc": "",
            "git gc --prune=now": "work_loss +history-loss",
            "git gc --prune='1 second ago'": "work_loss +history-loss",
            "git gc --prune=2.weeks.ago": "",
            "git gc --aggressive": "",
        },
    ),
    program(
        "prune",
        "n,dry-run v,verbose progress expire=",
        _prunes,
        {"git prune": "work_loss +history-loss", "git prune -n": "preview"},
    ),
    program(
        "read-tree",
        "m reset n,dry-run u i v,verbose prefix= exclude-per-directory= index-output= q",
        _reads_tree,
        {"git read-tree --reset -u HEAD": "work_loss +discard-work", "git read-tree HEAD": ""},
        abbreviates=False,
    ),
    program(
        "checkout-index",
        "u,index q,quiet f,force a,all n,no-create prefix= stage= temp z stdin",
        _checks_out_index,
        {"git checkout-index -f -a": "work_loss +discard-work +force"},
    ),
    program(
        "commit",
        "~ m,message= F,file= C,reuse-message= c,reedit-message= t,template= n,no-verify author= date= a,all "
        "amend fixup= squash= S,gpg-sign? dry-run pathspec-from-file= cleanup= trailer= "
        "u,untracked-files? p,patch",
        _commits,
        {
            "git commit -m x": "",
            "git commit -nm x": "+hooks-bypass",
            "git commit --no-verify -m x": "+hooks-bypass",
            "git commit -F msg": "read read:msg",
            "git commit -m --no-verify": "",
        },
    ),
    program(
        "apply",
        "~ check stat numstat summary apply p= C= R,reverse directory= exclude= include= whitespace= "
        "unsafe-paths inaccurate-eof build-fake-ancestor=",
        _applies,
        {"git apply x.diff": "read write read:x.diff", "git apply --check x": "read read:x"},
    ),
    program(
        "bisect", "~", _bisects, {"git bisect run make": "execute +child-command", "git bisect good": ""}
    ),
    program(
        "status add describe rev-parse rev-list name-rev ls-files ls-tree shortlog merge-base var "
        "version help "
        "count-objects fsck for-each-ref show-ref show-branch cherry range-diff whatchanged init "
        "update-index write-tree "
        "commit-tree mktree hash-object verify-commit verify-tag check-ignore check-attr "
        "check-ref-format notes "
        "sparse-checkout rerere repack pack-refs pack-objects maintenance stripspace "
        "interpret-trailers column "
        "diff-tree diff-index diff-files merge-tree merge-file patch-id mailinfo bugreport diagnose "
        "annotate replace "
        "get-tar-commit-id update-server-info request-pull",
        "~ m,message= F,file=",
        neutral,
        {"git status -sb": "", "git add -A": "", "git rev-parse HEAD": ""},
    ),
    program(
        "difftool mergetool gui citool gitk instaweb hook",
        "~ x,extcmd= t,tool=",
        executes,
        {"git mergetool": "execute"},
    ),
    program(
        "daemon",
        "~",
        acts(Operation.LISTEN, details=("listener",)),
        {"git daemon --export-all": "listen +listener"},
    ),
)
