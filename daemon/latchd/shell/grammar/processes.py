"""Processes, services, schedules, accounts, privilege and the power switch."""

from __future__ import annotations

from typing import Final

import msgspec

from latch_contracts.facts import Access, Operation
from latchd.shell.grammar.description import PREVIEW, Context, Description
from latchd.shell.grammar.interpreters import from_stdin, runs_script
from latchd.shell.grammar.options import Parsed, Style, literal
from latchd.shell.grammar.program import acts, aimed, executes, flags, neutral, program
from latchd.shell.grammar.verbs import HARMLESS, by_verb

_KILL: Final = (Operation.PROCESS_KILL,)


def _kill(parsed: Parsed, _context: Context) -> Description:
    """kill: signal 0 only asks; pid -1 means every process one may signal."""
    words = [word.value for word in parsed.words]
    if words[:1] in (["-l"], ["-L"], ["--list"]):
        return HARMLESS
    signal, pids = "", words
    if words[:1] and words[0] in ("-s", "-n", "--signal"):
        signal, pids = "".join(words[1:2]), words[2:]
    elif words[:1] and words[0].startswith("-") and words[0] != "--":
        signal, pids = words[0][1:], words[1:]
    if signal == "0":
        return Description(known=True, details=("probe",))
    everyone = "-1" in [pid for pid in pids if pid != "--"] and len(pids) > 0
    return Description(known=True, operations=_KILL, details=("mass-kill",) if everyone else ())


def _kills_by_name(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("list") or "-0" in [word.value for word in parsed.words]:
        return Description(known=True, details=("probe",))
    names = [word.value for word in parsed.operands]
    everyone = any(name in (".", ".*", "*", "") for name in names) or (parsed.has("uid") and not names)
    return Description(known=True, operations=_KILL, details=("mass-kill",) if everyone else ())


def _ps(parsed: Parsed, _context: Context) -> Description:
    """ps: the BSD letter ``e`` shows each process's environment."""
    first = parsed.words[0].value if parsed.words else ""
    bsd = not first.startswith("-") and "e" in first and first.isalpha()
    return Description(known=True, operations=(Operation.ENVIRONMENT_READ,) if bsd else ())


def _crontab(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("l"):
        return HARMLESS
    if parsed.has("r"):
        return Description(known=True, operations=(Operation.SCHEDULE,), details=("schedule-remove",))
    return Description(
        known=True,
        operations=(Operation.SCHEDULE,),
        targets=aimed(Access.READ, parsed.operands),
        reads_stdin=not parsed.operands or parsed.operands[0].value == "-",
    )


def _at(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("l", "c"):
        return HARMLESS
    if parsed.has("d", "r"):
        return Description(known=True, operations=(Operation.SCHEDULE,), details=("schedule-remove",))
    return Description(
        known=True,
        operations=(Operation.SCHEDULE, *((Operation.RUN_INPUT,) if not parsed.has("f") else ())),
        targets=aimed(Access.EXECUTE, parsed.values("f")),
        reads_stdin=not parsed.has("f"),
    )


def _sudo(parsed: Parsed, _context: Context) -> Description:
    """Whatever else: another user's rights. The command inside is the structure's matter."""
    if parsed.has("list", "validate", "reset-timestamp", "remove-timestamp") and not parsed.operands:
        return Description(known=True, operations=(Operation.PRIVILEGE,), details=("probe",))
    details = (
        ("child-command",)
        if parsed.operands[:1] not in ((), (literal("-"),)) or parsed.has("command")
        else ("interactive",)
    )
    return Description(
        known=True,
        operations=(Operation.PRIVILEGE, Operation.EXECUTE),
        targets=aimed(Access.WRITE, parsed.operands if parsed.has("edit") else ()),
        details=details,
    )


def _halts(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("c", "k", "w", "wtmp-only"):
        return HARMLESS
    return Description(known=True, operations=(Operation.EXECUTE,), details=("halt",))


def _init(parsed: Parsed, _context: Context) -> Description:
    level = parsed.operands[0].value if parsed.operands else ""
    return Description(
        known=True,
        operations=(Operation.EXECUTE,),
        details=("halt",) if level in ("0", "6", "1", "s", "S") else (),
    )


def _kills_all(parsed: Parsed, _context: Context) -> Description:
    """killall5: every process but its own session's."""
    if parsed.text("#") == "0":
        return Description(known=True, details=("probe",))
    return Description(known=True, operations=_KILL, details=("mass-kill",))


def _lsof(parsed: Parsed, _context: Context) -> Description:
    return Description(known=True, targets=aimed(Access.METADATA, parsed.operands))


def _fuser(parsed: Parsed, _context: Context) -> Description:
    kills = parsed.has("kill")
    return Description(
        known=True, operations=_KILL if kills else (), targets=aimed(Access.METADATA, parsed.operands)
    )


def _accounts(parsed: Parsed, _context: Context) -> Description:
    return Description(known=True, operations=(Operation.ACCOUNT_CHANGE,), details=flags(parsed, "force"))


def _members(parsed: Parsed, context: Context) -> Description:
    """groupmems: -l only lists."""
    return Description(known=True) if parsed.has("list") else _accounts(parsed, context)


def _wraps(parsed: Parsed, context: Context) -> Description:
    """A wrapper seen without its child being taken out: it runs something."""
    base = executes(parsed, context)
    return Description(known=True, operations=base.operations, details=("child-command",))


def _debugs(parsed: Parsed, context: Context) -> Description:
    """gdb and lldb: what comes through a pipe are their commands, and those reach a shell."""
    base = _wraps(parsed, context)
    if not context.piped or context.text is not None:
        return base
    operations = (*base.operations, Operation.RUN_INPUT)
    return msgspec.structs.replace(base, operations=operations, reads_stdin=True)


def _expects(parsed: Parsed, context: Context) -> Description:
    """expect: a script's name, code behind -c, or a program on stdin."""
    scripts = (*parsed.values("f"), *parsed.operands[:1])
    if parsed.has("c"):
        return executes(parsed, context)
    if scripts and scripts[0].value not in ("-", "/dev/stdin"):
        return runs_script(scripts[0])
    return from_stdin(context)


def _parallels(parsed: Parsed, context: Context) -> Description:
    """parallel: a dry run prints the commands, and still computes what stands in `{= … =}`."""
    computes = any("{=" in word.value for word in parsed.words)
    given = [word.value for word in parsed.words]
    first = next((at for at, word in enumerate(given) if word.startswith(":::")), len(given))
    if not computes and {"--dry-run", "--dryrun"} & set(given[:first]):
        return PREVIEW
    found = _wraps(parsed, context)
    return msgspec.structs.replace(found, details=("opaque-code", *found.details)) if computes else found


_SYSTEMCTL: Final = """
status | show | cat | list-* | is-* | help | get-default :
show-environment : environment_read
poweroff | reboot | halt | kexec | soft-reboot | suspend | hibernate | hybrid-sleep | rescue | emergency |\
    default | exit | isolate : execute +halt
stop | kill | reset-failed | clean | condstop : execute +service-stop
disable | mask : schedule +service-stop
enable | reenable | link | edit | preset* | unmask | daemon-reload | daemon-reexec | set-environment |\
    import-environment | unset-environment | set-default | set-property | revert | add-wants |\
    add-requires | bind : schedule
start | restart | reload* | try-* | condrestart | force-reload : execute
"""
_LAUNCHCTL: Final = """
list | print* | blame | error | help | version | managername :
getenv | export : environment_read
unload | bootout | remove | stop | kill | disable : schedule +service-stop
load | bootstrap | submit | enable | start | kickstart | setenv | asuser | config | limit | reboot : schedule
"""

PROGRAMS: Final = (
    program(
        "ps gps",
        "~",
        _ps,
        {"ps -ef": "", "ps aux": "", "ps auxe": "environment_read", "ps -e": ""},
        style=Style.LEADING,
    ),
    program(
        "top htop btop atop glances pgrep pidof pstree pmap pwdx lslocks vtop iotop powertop",
        "# ~ u= p= n= d= o= U= P= g= t=",
        neutral,
        {"top -b -n 1": "", "pgrep -f x": ""},
    ),
    program(
        "kill gkill",
        "# ~",
        _kill,
        {
            "kill 12": "process_kill",
            "kill -9 -1": "process_kill +mass-kill",
            "kill -0 12": "+probe",
            "kill -s TERM 12": "process_kill",
            "kill -l": "",
            "kill -- -12": "process_kill",
        },
        style=Style.LEADING,
    ),
    program(
        "pkill killall skill xkill",
        "# ~ s,signal= u,uid,euid= U= g= G= P= t= l,list n o",
        _kills_by_name,
        {
            "pkill -f server": "process_kill",
            "killall -9 node": "process_kill",
            "pkill -9 -u me": "process_kill +mass-kill",
            "killall -l": "+probe",
        },
    ),
    program(
        "killall5",
        "# ~ o=",
        _kills_all,
        {
            "killall5 -9": "process_kill +mass-kill",
            "killall5": "process_kill +mass-kill",
            "killall5 -0": "+probe",
        },
    ),
    program("lsof", "~ p= i? u= c= d= a t", _lsof, {"lsof -i :80": "metadata::80", "lsof a": "metadata:a"}),
    program("fuser", "~ k,kill n= s", _fuser, {"fuser -k 80/tcp": "process_kill metadata:80/tcp"}),
    program(
        "nice renice ionice chrt taskset nohup setsid time gtime timeout gtimeout stdbuf unbuffer "
        "flock watch xargs gxargs "
        "entr strace ltrace valgrind perf caffeinate setarch faketime firejail bwrap unshare "
        "busybox toybox exec "
        "systemd-inhibit dbus-run-session cpulimit chronic ts retry run-one",
        "~",
        _wraps,
        {"nohup make": "execute +child-command", "timeout 5 make": "execute +child-command"},
        style=Style.LEADING,
    ),
    program(
        "gdb lldb",
        "~ ex= iex= x= o= O=",
        _debugs,
        {"gdb ./a": "execute +child-command", "| gdb": "execute run_input +child-command <stdin"},
        style=Style.LEADING,
    ),
    program(
        "expect",
        "~ c= f=",
        _expects,
        {
            "expect -c 'spawn x'": "execute",
            "expect a.exp": "execute execute:a.exp +script",
            "| expect -": "execute run_input <stdin",
        },
        style=Style.LEADING,
    ),
    program(
        "parallel",
        "~ dry-run,dryrun",
        _parallels,
        {
            "parallel echo ::: a": "execute +child-command",
            "parallel --dry-run rm {1} ::: a": "preview",
            "parallel --dry-run 'rm {= $_++ =}' ::: a": "execute +opaque-code +child-command",
        },
        style=Style.LEADING,
    ),
    program(
        "nsenter",
        "~ t,target=",
        acts(Operation.NAMESPACE_ENTER, Operation.EXECUTE, details=("child-command",)),
        {"nsenter -t 1 -a sh": "namespace_enter execute +child-command"},
        style=Style.LEADING,
    ),
    program(
        "chroot arch-chroot systemd-nspawn",
        "~ userspec= groups= D=",
        acts(Operation.ROOT_CHANGE, Operation.EXECUTE, details=("child-command",)),
        {"chroot /mnt sh": "root_change execute +child-command"},
        style=Style.LEADING,
    ),
    program(
        "sudo doas su pkexec runuser gosu su-exec sudoedit run0 dzdo kdesu gksu",
        "~ u,user= g,group= h,host= p,prompt= C,close-from= T,command-timeout= r,role= t,type= "
        "D,chdir= R,chroot= c,command= s,shell l,list "
        "v,validate k,reset-timestamp K,remove-timestamp e,edit",
        _sudo,
        {
            "sudo ls": "privilege execute +child-command",
            "sudo -l": "privilege +probe",
            "sudo -e /etc/hosts": "privilege execute write:/etc/hosts +child-command",
            "su -": "privilege execute +interactive",
            "su -c id me": "privilege execute +child-command",
        },
        style=Style.LEADING,
    ),
    program(
        "shutdown reboot halt poweroff telinit pm-suspend systemsetup",
        "~ c k w,wtmp-only t=",
        _halts,
        {"shutdown -h now": "execute +halt", "reboot": "execute +halt", "shutdown -c": ""},
    ),
    program("init", "~", _init, {"init 0": "execute +halt"}),
    program(
        "systemctl",
        "~ H,host= M,machine= t,type= p,property= s,signal= n,lines= o,output= user root= dry-run "
        "state= now f,force",
        by_verb(_SYSTEMCTL, HARMLESS),
        {
            "systemctl status x": "",
            "systemctl --user enable x": "schedule",
            "systemctl stop x": "execute +service-stop",
            "systemctl reboot": "execute +halt",
            "systemctl show-environment": "environment_read",
            "systemctl restart x": "execute",
        },
    ),
    program(
        "launchctl",
        "~",
        by_verb(_LAUNCHCTL, HARMLESS),
        {
            "launchctl list": "",
            "launchctl load a.plist": "schedule",
            "launchctl getenv A": "environment_read",
        },
    ),
    program(
        "service rc-service initctl sv supervisorctl brew-services",
        "~",
        by_verb(
            """
* status | status | * list :
* stop | stop * : execute +service-stop
* disable | disable * | * enable | enable * : schedule
* * : execute
""",
            HARMLESS,
        ),
        {
            "service nginx restart": "execute",
            "service nginx stop": "execute +service-stop",
            "service nginx status": "",
        },
    ),
    program(
        "update-rc.d systemd-run systemd-tmpfiles anacron fcron schtasks",
        "~",
        acts(Operation.SCHEDULE),
        {"systemd-run --user make": "schedule"},
    ),
    program(
        "chkconfig rc-update loginctl",
        "~ list",
        by_verb(
            """
--list | show | show * | list | list-* | *-status | show-* :
terminate-* | kill-* | lock-* | unlock-* | activate | attach : execute +service-stop
* : schedule
""",
            HARMLESS,
        ),
        {
            "loginctl enable-linger": "schedule",
            "loginctl list-sessions": "",
            "chkconfig --list": "",
            "chkconfig httpd on": "schedule",
        },
    ),
    program(
        "pm2 forever",
        "~",
        by_verb(
            """
list | ls | status | logs | monit | describe | show | info | jlist | prettylist | ping | report :
stop | delete | kill | stopall : execute +service-stop
startup | unstartup | save | dump | resurrect | install | module:install | set : schedule
* : execute
""",
            HARMLESS,
        ),
        {
            "pm2 list": "",
            "pm2 restart web": "execute",
            "pm2 stop web": "execute +service-stop",
            "pm2 startup": "schedule",
            "pm2 save": "schedule",
            "forever start app.js": "execute",
        },
    ),
    program(
        "journalctl dmesg ausearch",
        "~ u,unit= n,lines= S,since= U,until= p,priority= o,output= vacuum-size= vacuum-time=",
        neutral,
        {"journalctl -u x -n 50": "", "dmesg": ""},
    ),
    program(
        "crontab",
        "l r e i u= s",
        _crontab,
        {
            "crontab -l": "",
            "crontab f": "schedule read:f",
            "crontab -": "schedule <stdin",
            "crontab -r": "schedule +schedule-remove",
            "crontab -e": "schedule <stdin",
        },
    ),
    program(
        "at batch atq atrm",
        "l d r c m v b M f= q= t=",
        _at,
        {"at now": "schedule run_input <stdin", "at -f a.sh now": "schedule execute:a.sh", "at -l": ""},
    ),
    program(
        "useradd adduser userdel deluser usermod groupadd groupdel groupmod gpasswd passwd chpasswd "
        "chsh chfn chage vipw visudo "
        "newusers newgrp dscl sysadminctl dseditgroup pwconv addgroup delgroup",
        "~ f,force g= G= s= d= u= c= p=",
        _accounts,
        {
            "useradd -m x": "account_change",
            "usermod -aG sudo me": "account_change",
            "passwd": "account_change",
        },
    ),
    program(
        "groupmems",
        "a,add= d,delete= g,group= l,list p,purge R,root=",
        _members,
        {"groupmems -g sudo -a me": "account_change", "groupmems -g sudo -l": ""},
    ),
    program(
        "insmod modprobe rmmod kextload sysrq update-grub grub-install efibootmgr kexec",
        "~",
        acts(Operation.CONFIG_CHANGE),
        {"modprobe x": "config_change"},
    ),
)
