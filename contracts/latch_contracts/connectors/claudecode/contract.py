"""The contract of Claude Code's hooks: its 34 events, what each means, and its native tools.

``blockable`` marks the events that latchd refuses and whose refusal is obeyed; Claude Code would
also let a hook stop prompts, turn ends and tasks, which are none of latchd's business.
"""

from __future__ import annotations

from typing import Final

from latch_contracts.contract import (
    Authority,
    Contract,
    Event,
    Kind,
    Level,
    Route,
    Surface,
    Tool,
    Versions,
)


def _audit(*names: str) -> tuple[Event, ...]:
    return tuple(Event(name, Route.AUDIT, Kind.AUDIT) for name in names)


_EVENTS: Final = (
    Event("PreToolUse", Route.ACTION, Kind.PROPOSAL, blockable=True),
    # Shell inside a skill. Its id names the skill call and a position, and no result ever carries it.
    Event("PreSkillShellCommand", Route.DIRECT, Kind.PROPOSAL, blockable=True),
    # Carries no call id. A refusal races the person's own answer: it can lose to a quick "yes".
    Event("PermissionRequest", Route.DIRECT, Kind.PERMISSION, blockable=True),
    Event("PostToolUse", Route.RESULT, Kind.RESULT),
    Event("PostToolUseFailure", Route.RESULT, Kind.RESULT),
    # The auto-mode classifier's denials alone; a person's "no" and a rule's have no event.
    Event("PermissionDenied", Route.RESULT, Kind.DENIAL),
    # The one event that names denied and invalid calls; tells nothing of how they ended.
    Event("PostToolBatch", Route.AUDIT, Kind.BATCH),
    Event("UserPromptSubmit", Route.AUDIT, Kind.PROMPT),
    Event("Stop", Route.AUDIT, Kind.TURN_END, cutoff="turn"),
    Event("StopFailure", Route.AUDIT, Kind.TURN_END, cutoff="turn"),
    Event("SessionStart", Route.AUDIT, Kind.SESSION_START),
    Event("SessionEnd", Route.AUDIT, Kind.SESSION_END, cutoff="session"),
    Event("SubagentStop", Route.AUDIT, Kind.SUBAGENT_STOP),
    # The last event before tampered settings take every hook away; exit 2 keeps the old hooks.
    Event("ConfigChange", Route.AUDIT, Kind.CONFIG_CHANGE, blockable=True),
    *_audit(
        "SubagentStart",
        "CwdChanged",
        "FileChanged",
        "DirectoryAdded",
        "InstructionsLoaded",
        "UserPromptExpansion",
        "MessageDisplay",
        "Notification",
        "PreCompact",
        "PostCompact",
        "PreModelSwitch",
        "PostModelSwitch",
        "TaskCreated",
        "TaskCompleted",
        "TeammateIdle",
        "Elicitation",
        "ElicitationResult",
        "Setup",
        "WorktreeCreate",
        "WorktreeRemove",
    ),
)


def _tool(name: str, surface: Surface, benign: str = "", *, path: str = "", url: str = "") -> Tool:
    return Tool(name, surface, path=path, url=url, benign=frozenset(benign.split()))


_BACKGROUND: Final = frozenset({"run_in_background"})
# Not benign in what it does, but it changes nothing in what a command is: every command is judged
# as one that runs outside the sandbox.
_UNBOXED: Final = "dangerouslyDisableSandbox"
_SHELL: Final = frozenset({"description", "timeout", _UNBOXED})
_AGENT: Final = frozenset(
    ["description", "prompt", "subagent_type", "model", "isolation", "mode", "name", "team_name", "resume"]
)

_TOOLS: Final = (
    Tool("Bash", Surface.SHELL, command="command", benign=_SHELL, launch=_BACKGROUND),
    Tool("PowerShell", Surface.SHELL, command="command", benign=_SHELL, launch=_BACKGROUND),
    Tool(
        "Monitor",
        Surface.SHELL,
        command="command",
        benign=frozenset({"description", "timeout_ms", "persistent"}),
        always_launch=True,
    ),
    # `Agent` was `Task`; a matcher of either name still fires for both.
    Tool("Agent", Surface.DELEGATE, benign=_AGENT, launch=_BACKGROUND),
    Tool("Task", Surface.DELEGATE, benign=_AGENT, launch=_BACKGROUND),
    _tool("Read", Surface.READ, "offset limit pages allow_large", path="file_path"),
    _tool("LS", Surface.SEARCH, "ignore", path="path"),
    _tool("Glob", Surface.SEARCH, "pattern", path="path"),
    _tool(
        "Grep",
        Surface.SEARCH,
        "pattern glob type output_mode -A -B -C -n -i -o context head_limit offset multiline",
        path="path",
    ),
    _tool("Write", Surface.WRITE, "content", path="file_path"),
    _tool("Edit", Surface.EDIT, "old_string new_string replace_all", path="file_path"),
    _tool("MultiEdit", Surface.EDIT, "edits", path="file_path"),
    _tool("NotebookEdit", Surface.EDIT, "cell_id new_source cell_type edit_mode", path="notebook_path"),
    _tool("WebFetch", Surface.FETCH, "prompt", url="url"),
    _tool("WebSearch", Surface.SEARCH, "query allowed_domains blocked_domains"),
    _tool("Skill", Surface.SKILL, "skill args"),
    _tool("ToolSearch", Surface.GENERIC, "query max_results"),
    _tool("TaskCreate", Surface.GENERIC, "subject description activeForm metadata"),
    _tool(
        "TaskUpdate",
        Surface.GENERIC,
        "taskId status subject description activeForm owner addBlocks addBlockedBy metadata",
    ),
    _tool("TaskGet", Surface.GENERIC, "taskId"),
    _tool("TaskList", Surface.GENERIC),
    _tool("TaskOutput", Surface.GENERIC, "task_id block timeout"),
    _tool("TaskStop", Surface.GENERIC, "task_id shell_id"),
    _tool("BashOutput", Surface.GENERIC, "bash_id filter"),
    _tool("KillShell", Surface.GENERIC, "shell_id"),
    _tool("TodoWrite", Surface.GENERIC, "todos"),
    _tool("EnterWorktree", Surface.GENERIC, "name"),
    _tool("ExitWorktree", Surface.GENERIC, "action discard_changes"),
    _tool("EnterPlanMode", Surface.GENERIC),
    _tool("ExitPlanMode", Surface.GENERIC, "plan allowedPrompts"),
    _tool("AskUserQuestion", Surface.GENERIC, "questions answers annotations metadata"),
    _tool("ListMcpResourcesTool", Surface.GENERIC, "server"),
    _tool("ReadMcpResourceTool", Surface.GENERIC, "server uri"),
)

CONTRACT: Final = Contract(
    connector="claudecode",
    contract_id="claudecode-hooks-v1",
    revision=1,
    versions=Versions(minimum=(2, 1, 152)),  # MessageDisplay, the youngest event of the reviewed base list
    level=Level.PAIRED,
    authority=Authority.PAIRED_ID,
    events=_EVENTS,
    tools=_TOOLS,
    session_field="session_id",
    call_id_field="tool_use_id",
    turn_field="prompt_id",
    agent_field="agent_id",
    outcome_authority=True,
    native_ask=True,
)
