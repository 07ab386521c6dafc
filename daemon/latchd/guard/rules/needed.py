"""What each coded rule needs to see before it is asked, by its id; a rule that is not here is always asked.

A row must name every trait by which its rule can find something; tests hold that no rule finds less with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from latchd.guard.needs import Needs, needs
from latchd.guard.rule import Rule
from latchd.guard.rules.attack import ATTACKERS, PLACED, SHELL_SERVERS
from latchd.guard.rules.databases import CARRIERS
from latchd.guard.rules.statements import SQL_CLIENTS
from latchd.guard.rules.traffic import NETWORK_TOOLS

_FAR: Final = "outside home system root device dynamic"
_LANGUAGE: Final = "detail inline-code, operation run_input"

_CLIENTS: Final = (
    "mysql mariadb psql sqlite3 sqlite sqlcmd sqlplus mongosh mongo redis-cli clickhouse-client duckdb "
    "cockroach cqlsh usql pgcli mycli snowsql bq"
)
# Rules of an area that all look at the same thing.
_AREAS: Final[Mapping[str, Needs]] = MappingProxyType(
    {
        "powershell": needs(
            "dialect powershell cmd, program powershell pwsh cmd taskkill tskill net net1 schtasks reg sc "
            "wmic "
            "certutil bitsadmin rmdir rd del erase"
        )
    }
)

NEEDED: Final[Mapping[str, Needs]] = MappingProxyType(
    {
        rule: needs(traits)
        for rule, traits in {
            "self.files": "of own",
            "self.hooks": "of hooks",
            "self.socket": "word latch",
            "self.stop": "word latch, program pkill skill systemctl",
            "self.command": "word latch",
            "self.environment": "text LATCHD_ XDG_",
            "fs.delete-root-or-home": "takes root home dynamic",
            "fs.delete-project-root": "takes project-root dynamic",
            "fs.delete-listed": "wrapped",
            "fs.delete-git": "takes repository dynamic, wrapped, glob delete",
            "fs.delete-linked": "program ln gln",
            "fs.delete-outside": f"takes {_FAR}",
            "fs.delete-dynamic": "takes dynamic, wrapped",
            "fs.delete-just-moved": "moved tree",
            "fs.delete-inside": "takes project dynamic",
            "fs.overwrite-system": "puts system root dynamic",
            "fs.overwrite-outside": "puts outside home dynamic",
            "fs.device-write": "device, operation disk_write, detail disk-loss",
            "fs.change-mode": "operation permission_change",
            "fs.shred": "program shred gshred srm wipe",
            "fs.set-id": "detail set-id",
            "sys.schedule-removed": "detail schedule-remove",
            "sys.halt": "detail halt mass-kill",
            "sys.kill-listed": "program kill",
            "git.foreign-helper": "program git",
            "credential.linked": "program ln gln",
            "sys.fork-bomb": "text ()",
            "code.runs-fetched": _LANGUAGE,
            "code.reverse-shell": _LANGUAGE,
            "code.removes": "operation run_input",
            "git.discard-work": "detail discard-work",
            "git.history-loss": "detail history-loss",
            "git.remote-loss": "detail remote-loss",
            "git.ref-delete": "detail ref-delete",
            "git.work-loss": "operation work_loss",
            "git.executing-config": "detail executing-config",
            "git.passing-config": "detail executing-config",
            "git.hooks-bypass": "detail hooks-bypass",
            "git.remote-change": "program git",
            "egress.download-exec": "fetched run",
            "egress.secret-upload": "held sent",
            "egress.reverse-shell": "detail shell-child, redirect socket, operation run_input",
            "egress.metadata-endpoint": "host metadata",
            "egress.device-socket": "redirect socket",
            "egress.upload": "peer upload",
            "egress.publish": "detail publish, word publish upload, program mix eas fastlane web-ext",
            "egress.reverse-tunnel": "operation tunnel, program ssh autossh chisel ligolo ligolo-ng",
            "egress.collector": "host collector",
            "egress.name-tunnel": (
                "host dynamic, program dig nslookup host drill kdig resolvectl getent ping ping6 fping"
            ),
            "network.paste-site": "host paste",
            "network.tool": f"network, program {' '.join(sorted(NETWORK_TOOLS))}",
            "network.sweep": "operation network_scan",
            "network.listener": "operation listen",
            "package.install": "operation install",
            "env.secret-variable": "text $",
            "env.dump": "operation environment_read",
            "vouch.destructive-word": "no-program",
            "vouch.unknown-word": "no-program",
            "vouch.unread-destructive": "unread",
            "vouch.unread": "unread",
            "vouch.suspected-child": "suspected, grammar unknown",
            "vouch.unknown-input": "operation run_input",
            "vouch.unknown-code": "detail opaque-code, access execute",
            "vouch.fed-code": "wrapped, program parallel, detail inline-code child-command",
            "vouch.loader-variable": "text assigns",
            "vouch.loading-variable": "text assigns",
            "vouch.prompt-expansion": "text @P}",
            "write.outside-roots": f"puts {_FAR}, takes {_FAR}",
            "write.protected": "of protected",
            "write.persistence": "of persistence",
            "write.other-guard": "of guard",
            "write.schedule": "operation schedule",
            "write.accounts": "operation account_change",
            "write.credential": "of credential",
            "write.stale": "surface write edit patch",
            "write.overwrite-unknown": "surface write",
            "credential.staged": "program git",
            "credential.exposed": "operation permission_change",
            "credential.in-code": "detail inline-code",
            "credential.read": "access read",
            "credential.read-found": "open read",
            "credential.read-tree": "tree read",
            "credential.named": "operands unknown",
            "credential.print": "operation credential_read",
            "agent.bypass": (
                "operation policy_bypass, grammar unknown, program npx pnpx bunx pnpm yarn npm bun claude "
                "codex gemini opencode cursor-agent copilot amp"
            ),
            "agent.instructions": "of instructions",
            "container.host-namespace": "operation namespace_enter root_change",
            "container.runtime-socket": "socket path",
            "cluster.exec": "operation workload_exec",
            "abuse.miner": "grammar unknown, operation container_run",
            "trace.history": "program unset export declare typeset set history",
            "rights.discovery": "program sudo doas su getcap find gfind, wrapped",
            "infra.through-runner": "program npx pnpx bunx uvx pipx pnpm yarn bun npm",
            "infra.http-delete": "program curl http https xh httpie curlie wget",
            "db.input-loss": f"program {_CLIENTS}",
            "db.tool-loss": "surface mcp generic",
            "db.word-loss": "program " + " ".join(sorted(CARRIERS)),
            "db.code-loss": (
                "detail inline-code, operation run_input, program rails flask python python3 php artisan"
            ),
            "db.reaches-out": "surface mcp generic, program " + " ".join(sorted(SQL_CLIENTS)),
            "db.rights": "surface mcp generic, program " + " ".join(sorted(SQL_CLIENTS)),
            "abuse.endless-forks": "text done, detail inline-code",
            "abuse.endless-output": "device, program yes dd fallocate truncate head mkfile",
            "db.wire-loss": "program nc ncat netcat telnet socat nc.openbsd",
            "write.by-tool": "surface mcp generic",
            "write.by-tool-outside": "surface mcp generic",
            "infra.tool-loss": "surface mcp generic",
            "abuse.attack-tool": "grammar unknown, program " + " ".join(sorted(ATTACKERS)),
            "abuse.mining-pool": "word pool",
            "egress.shell-server": "program websocat " + " ".join(sorted(SHELL_SERVERS)),
            "egress.home-served": "program " + " ".join(sorted(PLACED)),
        }.items()
    }
)


def needs_of(rule: Rule) -> Needs | None:
    """What the rule states itself, or its row, or its area's; None = it is always asked."""
    if rule.needs is not None:
        return rule.needs
    return NEEDED.get(rule.id, _AREAS.get(rule.id.partition(".")[0]))


def with_needs(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(msgspec.structs.replace(rule, needs=needs_of(rule)) for rule in rules)
