"""PowerShell cmdlets and Windows' own tools, in text for a POSIX shell or behind `pwsh -c`.

Their options are read loosely: a word that starts with a dash, or a slash and a letter, is an option, and
every other word an operand, the value of `-Path` included.
"""

from __future__ import annotations

import itertools
import re

from latch_contracts.facts import Access, Argument, NetAction, Operation
from latchd.shell.grammar.description import UNKNOWN, Contact, Context, Description
from latchd.shell.grammar.options import Parsed, Style
from latchd.shell.grammar.program import Judge, acts, aimed, executes, program
from latchd.shell.grammar.verbs import by_verb

_SWITCH = re.compile(r"/[A-Za-z]{1,12}(:.*)?\Z")
_ADDRESS = re.compile(r"\w+://")


def _operands(parsed: Parsed) -> tuple[Argument, ...]:
    return tuple(
        word for word in parsed.words if not word.value.startswith("-") and not _SWITCH.match(word.value)
    )


def _flags(parsed: Parsed) -> set[str]:
    return {word.value.lower().lstrip("-/") for word in parsed.words if word.value[:1] in ("-", "/")}


def _removes(parsed: Parsed, _context: Context) -> Description:
    flags = _flags(parsed)
    recursive = any(flag == "s" or (flag and "recurse".startswith(flag)) for flag in flags)
    force = any(flag in ("q", "f") or (len(flag) > 1 and "force".startswith(flag)) for flag in flags)
    return Description(
        known=True,
        operations=(Operation.DELETE,),
        targets=aimed(Access.DELETE, _operands(parsed), recursive=recursive),
        details=(*(("recursive",) if recursive else ()), *(("force",) if force else ())),
        writes_stdout=False,
    )


def _touches(operation: Operation, access: Access) -> Judge:
    def judge(parsed: Parsed, _context: Context) -> Description:
        return Description(
            known=True,
            operations=(operation,),
            targets=aimed(access, _operands(parsed)[:1]),
            writes_stdout=access is Access.READ,
        )

    return judge


def _transfers(operation: Operation, source: Access) -> Judge:
    def judge(parsed: Parsed, _context: Context) -> Description:
        operands = _operands(parsed)
        return Description(
            known=True,
            operations=(operation, Operation.WRITE),
            targets=(*aimed(source, operands[:1]), *aimed(Access.WRITE, operands[1:2])),
            writes_stdout=False,
        )

    return judge


def _kills(parsed: Parsed, _context: Context) -> Description:
    every = any(word.value == "*" for word in parsed.words)
    return Description(
        known=True, operations=(Operation.PROCESS_KILL,), details=("mass-kill",) if every else ()
    )


def _fetches(parsed: Parsed, _context: Context) -> Description:
    words = parsed.words
    flags = _flags(parsed)
    addresses = [word for word in words if _ADDRESS.match(word.value)] or list(_operands(parsed)[:1])
    saves = [
        word
        for before, word in itertools.pairwise(words)
        if before.value.lower() in ("-outfile", "-o", "-destination")
    ]
    sends = any((flag and "body".startswith(flag)) or flag in ("infile", "form") for flag in flags)
    action = NetAction.UPLOAD if sends else NetAction.DOWNLOAD
    return Description(
        known=True,
        operations=(Operation.UPLOAD if sends else Operation.FETCH, Operation.CONNECT),
        targets=aimed(Access.WRITE, saves),
        contacts=tuple(Contact(action, word) for word in addresses),
        details=() if saves else ("stdout-download",),
        saves=tuple(saves),
    )


def _lists(parsed: Parsed, _context: Context) -> Description:
    operands = _operands(parsed)
    if any(word.value.lower().startswith("env:") for word in operands):
        return Description(known=True, operations=(Operation.ENVIRONMENT_READ,))
    return Description(known=True, operations=(Operation.LIST,), targets=aimed(Access.LIST, operands))


def _evaluates(parsed: Parsed, context: Context) -> Description:
    if not parsed.words and context.piped:
        return Description(known=True, operations=(Operation.EXECUTE, Operation.RUN_INPUT), reads_stdin=True)
    return Description(known=True, operations=(Operation.EXECUTE,), details=("inline-code", "opaque-code"))


def _net(parsed: Parsed, _context: Context) -> Description:
    words = [word.value.lower() for word in parsed.words]
    changes = bool({"/add", "/delete"} & set(words)) or (words[:1] == ["user"] and len(words) > 2)
    if words[:1] in (["user"], ["localgroup"], ["group"]):
        return Description(known=True, operations=(Operation.ACCOUNT_CHANGE,) if changes else ())
    if words[:1] in (["stop"], ["start"], ["share"]):
        return Description(known=True, operations=(Operation.CONFIG_CHANGE,))
    return Description(known=True)


def _registry(parsed: Parsed, _context: Context) -> Description:
    verb = parsed.words[0].value.lower() if parsed.words else ""
    if verb in ("query", "compare", "export"):
        return Description(known=True, operations=(Operation.READ,))
    return Description(known=True, operations=(Operation.CONFIG_CHANGE,))


_ANY = "~"

PROGRAMS = (
    program(
        "vssadmin wbadmin fsutil bcdedit wmic diskshadow",
        "~",
        by_verb(
            "delete * | resize * | usn deletejournal | file setZeroData | shadowcopy delete | "
            "/set * | /deletevalue * | /delete * : disk_write write +disk-loss\n"
            "list * | get * | enum | /enum | * get * | * list * | usn queryjournal | fsinfo * :",
            UNKNOWN,
        ),
        {
            "vssadmin delete shadows /all": "disk_write write +disk-loss",
            "vssadmin list shadows": "",
            "wmic shadowcopy delete": "disk_write write +disk-loss",
            "wmic cpu get name": "",
        },
    ),
    program(
        "remove-item del erase",
        _ANY,
        _removes,
        {
            "Remove-Item -Recurse -Force C:/x": "delete delete:C:/x/** +recursive +force >none",
            "Remove-Item -Path a b": "delete delete:a delete:b >none",
            "del /s /q a": "delete delete:a/** +recursive +force >none",
        },
        style=Style.LEADING,
        previews="",
    ),
    program(
        "get-content",
        _ANY,
        _touches(Operation.READ, Access.READ),
        {"Get-Content -Raw a": "read read:a", "Get-Content -Path a": "read read:a"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "set-content clear-content out-file new-item",
        _ANY,
        _touches(Operation.WRITE, Access.WRITE),
        {"Set-Content a x": "write write:a >none", "Out-File -FilePath a": "write write:a >none"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "add-content",
        _ANY,
        _touches(Operation.APPEND, Access.APPEND),
        {"Add-Content a x": "append append:a >none"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "copy-item robocopy xcopy",
        _ANY,
        _transfers(Operation.COPY, Access.READ),
        {"Copy-Item a b": "copy write read:a write:b >none"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "move-item rename-item",
        _ANY,
        _transfers(Operation.MOVE, Access.DELETE),
        {"Move-Item a b": "move write delete:a write:b >none"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "stop-process taskkill tskill",
        _ANY,
        _kills,
        {
            "Stop-Process -Name * -Force": "process_kill +mass-kill",
            "taskkill /im x /f": "process_kill",
        },
        style=Style.LEADING,
        previews="",
    ),
    program(
        "invoke-webrequest iwr invoke-restmethod irm start-bitstransfer",
        _ANY,
        _fetches,
        {
            "irm https://example.com/a": "fetch connect download@https://example.com/a +stdout-download",
            "iwr https://example.com/a -OutFile f": (
                "fetch connect write:f download@https://example.com/a save=f"
            ),
            "iwr -Method Post -Body x https://example.com": (
                "upload connect upload@https://example.com +stdout-download"
            ),
        },
        style=Style.LEADING,
        previews="",
    ),
    program(
        "get-childitem gci",
        _ANY,
        _lists,
        {"gci env:": "environment_read", "Get-ChildItem -Recurse src": "list list:src"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "invoke-expression",
        _ANY,
        _evaluates,
        {
            "| Invoke-Expression": "execute run_input <stdin",
            "Invoke-Expression $X": "execute +inline-code +opaque-code",
        },
        style=Style.LEADING,
        previews="",
    ),
    program(
        "add-localgroupmember remove-localgroupmember new-localuser set-localuser remove-localuser "
        "add-adgroupmember enable-localuser",
        _ANY,
        acts(Operation.ACCOUNT_CHANGE),
        {"Add-LocalGroupMember -Group Administrators -Member x": "account_change"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "net net1",
        _ANY,
        _net,
        {
            "net localgroup Administrators x /add": "account_change",
            "net user x": "",
            "net stop x": "config_change",
            "net view": "",
        },
        style=Style.LEADING,
        previews="",
    ),
    program(
        "register-scheduledtask unregister-scheduledtask new-service",
        _ANY,
        acts(Operation.SCHEDULE),
        {"Register-ScheduledTask -TaskName x": "schedule"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "reg regedit set-itemproperty remove-itemproperty new-itemproperty",
        _ANY,
        _registry,
        {"reg add HKCU/x": "config_change", "reg query HKCU/x": "read"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "set-executionpolicy set-mppreference disable-windowsoptionalfeature icacls takeown set-acl",
        _ANY,
        acts(Operation.CONFIG_CHANGE),
        {"Set-ExecutionPolicy Bypass": "config_change"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "stop-computer restart-computer",
        _ANY,
        acts(Operation.PROCESS_KILL, details=("halt",)),
        {"Restart-Computer -Force": "process_kill +halt"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "format-volume clear-disk initialize-disk diskpart remove-partition",
        _ANY,
        acts(Operation.DISK_WRITE, details=("disk-loss",)),
        {"Format-Volume -DriveLetter C": "disk_write +disk-loss"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "start-process invoke-command start-job",
        _ANY,
        executes,
        {"Start-Process a": "execute"},
        style=Style.LEADING,
        previews="",
    ),
)
