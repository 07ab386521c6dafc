"""The tables of sensitive places: credentials, what runs later by itself, what is never written, our own.

Data and three questions about it. How patterns match is in paths.py.
"""

from __future__ import annotations

import functools
from typing import Final

from latchd.guard.paths import Table, components, first_match, pattern, patterns, surely_matches, table

_REMEMBERED: Final = 4096  # one path is asked about by several rules, and a session names the same ones often

CREDENTIAL_TREES: Final = patterns(
    """
    ~/.ssh ~/.aws ~/.azure ~/.gcp ~/.config/gcloud ~/.kube ~/.docker/config.json
    ~/.config/containers/auth.json
    ~/.config/gh/hosts.yml ~/.config/glab-cli ~/.config/hub ~/.git-credentials ~/.config/git/credentials
    ~/.netrc ~/.wgetrc ~/.config/wireguard /etc/wireguard
    ~/_netrc ~/.authinfo ~/.authinfo.gpg ~/.npmrc ~/.yarnrc.yml ~/.pypirc ~/.config/pip/pip.conf
    ~/.gem/credentials
    ~/.cargo/credentials* ~/.m2/settings*.xml ~/.gradle/gradle.properties ~/.nuget/nuget.config
    ~/.config/nuget/nuget.config ~/.composer/auth.json ~/.config/composer/auth.json
    ~/.terraform.d/credentials.tfrc.json ~/.terraformrc ~/.vault-token ~/.config/op ~/.config/sops/age
    ~/.config/rclone ~/.config/doctl ~/.config/fly ~/.fly ~/.config/heroku ~/.config/wrangler
    ~/.wrangler/config
    ~/.config/vercel ~/.local/share/com.vercel.cli ~/.config/netlify ~/.config/stripe ~/.config/ngrok
    ~/.ngrok2
    ~/.config/hcloud ~/.oci ~/.bluemix ~/.databrickscfg ~/.snowsql ~/.snowflake ~/.dbt/profiles.yml ~/.kaggle
    ~/.huggingface ~/.cache/huggingface/token ~/.cache/huggingface/stored_tokens ~/.pgpass ~/.my.cnf
    ~/.mylogin.cnf
    ~/.mongorc.js ~/.s3cfg ~/.boto ~/.passwd-s3fs ~/.password-store ~/.gnupg ~/.local/share/keyrings
    ~/library/keychains ~/.local/share/kwalletd ~/.config/sops ~/.age ~/.step ~/.cloudflared
    ~/.pulumi/credentials.json ~/.config/pypoetry/auth.toml
    ~/.config/1password ~/.config/bitwarden* ~/.config/keybase ~/.electrum ~/.bitcoin/wallet*
    ~/.ethereum/keystore
    ~/.config/solana/id.json
    ~/.bash_history ~/.zsh_history ~/.local/share/fish/fish_history ~/.psql_history ~/.mysql_history
    ~/.python_history ~/.node_repl_history ~/.rediscli_history ~/.sh_history ~/.history
    /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private
    /etc/kubernetes
    /etc/krb5.keytab /etc/ssh/ssh_host_* /etc/letsencrypt /etc/wireguard /etc/openvpn
    /etc/networkmanager/system-connections /etc/rancher /var/lib/kubelet /run/secrets /var/run/secrets
    /proc/*/environ /proc/*/task/*/environ /proc/*/mem /proc/kcore /dev/mem /dev/kmem /root/.ssh
    /var/run/docker.sock /run/docker.sock
    """
)
# What a browser keeps of its user's logins, below any profile of it.
BROWSER_FILES: Final = patterns(
    """
    login*data cookies cookies.sqlite web*data local*state key4.db logins.json
    """
)
_BROWSERS: Final = patterns(
    """
    ~/.config/google-chrome ~/.config/chromium ~/.config/bravesoftware ~/.config/microsoft-edge
    ~/.mozilla/firefox
    ~/library/application*support/google/chrome ~/library/application*support/firefox ~/snap/firefox
    ~/snap/chromium
    """
)
# Agents' own secrets: no allow list of the person's relaxes these.
AGENT_CREDENTIALS: Final = patterns(
    """
    ~/.claude/.credentials.json ~/.codex/auth.json ~/.codex/.credentials.json ~/.gemini/*oauth*
    ~/.gemini/*creds*
    ~/.gemini/gemini-credentials.json ~/.gemini/google_accounts.json ~/.copilot/config.json
    ~/.config/github-copilot
    ~/.local/share/opencode/auth.json ~/.local/share/opencode/mcp-auth.json ~/.pi/agent/auth.json
    ~/.local/share/amp/secrets.json ~/.cursor/auth.json ~/.config/cursor/auth.json ~/.kimi*/credentials
    ~/.config/openai ~/.anthropic ~/.openai ~/.claude.json
    """
)
CREDENTIAL_NAMES: Final = patterns(
    """
    .env .env.* *.env .dev.vars .dev.vars.* .envrc .netrc _netrc .pgpass .git-credentials .htpasswd
    .vault-token .pypirc
    .databrickscfg .s3cfg .boto id_rsa* id_dsa* id_ecdsa* id_ed25519* *_rsa *_dsa *_ecdsa *_ed25519
    credentials.* credentials-* credentials_* secrets.json secrets.yml secrets.yaml secrets.toml secrets.env
    service-account*.json service_account*.json serviceaccount*.json *-service-account.json
    client_secret*.json
    *-key.json *_key.json *.tfstate *.tfstate.* *.tfvars *.tfvars.json kubeconfig *.kubeconfig
    *.pem *.key *.keypair *.p12 *.pfx *.pkcs12 *.jks *.keystore *.keyring *.kdb *.kdbx *.ppk *.ovpn
    *.agilekeychain *.psafe3 *.keychain *.mobileprovision
    """
)
_EXEMPT_ENDINGS: Final = (
    ".pub .example .sample .template .defaults .dist .tpl .tmpl .md .rst .html .py .pyi .js .jsx .mjs "
    ".cjs .ts .tsx .vue "
    ".svelte .go .rs .java .kt .scala .rb .php .c .h .cc .cpp .hpp .cs .swift .sh .css .scss .svg .png "
    ".snap .proto .test .spec"
).split()
_EXEMPT_NAMES: Final = patterns(
    """
    .env.example* .env.sample* .env.template* .env.defaults* .env.dist* example.env sample.env template.env
    *.example.* *.sample.* *.template.* credentials.example* *example.tfvars
    cacert.pem cert.pem *cert.pem *chain.pem ca.pem *bundle.pem *.crt.pem *.pub.pem public*.pem public*.key
    *public.pem
    *_public.key dhparam*.pem cmakecache*.key
    """
)
_EXEMPT_TREES: Final = patterns(
    "~/.ssh/known_hosts* ~/.ssh/*.pub /etc/ssl/certs /usr/share /usr/lib/python* site-packages node_modules "
    "/etc/ssh/ssh_host_*.pub "
    # what lies beside a workload's token: its namespace and the public certificate of its cluster
    "/var/run/secrets/*/*/namespace /var/run/secrets/*/*/ca.crt "
    "/run/secrets/*/*/namespace /run/secrets/*/*/ca.crt"
)
_FIXTURES: Final = frozenset(
    ("fixtures", "__fixtures__", "fixture", "testdata", "test-fixtures", "__mocks__", "mocks")
)
_BACKUPS: Final = tuple(".bak .backup .copy .disabled .old .orig .save .tmp ~ .swp .gz .enc".split())

PERSISTENCE: Final = patterns(
    """
    ~/.bashrc ~/.bash_profile ~/.bash_login ~/.profile ~/.bash_logout ~/.bash_aliases ~/.inputrc ~/.zshrc
    ~/.zshenv
    ~/.zprofile ~/.zlogin ~/.zlogout ~/.kshrc ~/.cshrc ~/.tcshrc ~/.login ~/.xprofile ~/.xinitrc ~/.xsession
    ~/.xsessionrc ~/.pam_environment ~/.config/fish/config.fish ~/.config/fish/conf.d ~/.config/fish/functions
    ~/.config/nushell ~/.config/powershell ~/.oh-my-zsh/custom ~/.config/environment.d ~/.config/autostart
    ~/.config/systemd ~/.local/share/systemd ~/library/launchagents ~/library/launchdaemons ~/.rhosts
    ~/.ssh ~/.gitconfig ~/.config/git ~/.vimrc ~/.exrc ~/.emacs ~/.emacs.d/init.el ~/.tmux.conf ~/.screenrc
    ~/.config/nvim ~/.config/helix ~/.config/kitty ~/.config/alacritty ~/.pdbrc ~/.npmrc ~/.yarnrc*
    ~/.cargo/config*
    ~/.gemrc ~/.rprofile ~/.irbrc ~/.psqlrc ~/.gdbinit ~/.lldbinit ~/.perldb ~/.gradle/init.d
    ~/.m2/settings.xml
    ~/.config/pip ~/.pip ~/bin ~/.local/bin ~/.mozilla/native-messaging-hosts
    /etc/profile /etc/profile.d /etc/bash.bashrc /etc/zsh /etc/environment /etc/ld.so.preload
    /etc/ld.so.conf.d
    /etc/cron* /etc/anacrontab /var/spool/cron /etc/systemd /lib/systemd /usr/lib/systemd /run/systemd
    /etc/xdg/autostart
    /etc/init.d /etc/rc.local /etc/ssh /etc/sudoers /etc/sudoers.d /etc/pam.d /etc/hosts /etc/passwd
    /etc/shadow
    /etc/group /etc/udev /etc/modules-load.d /etc/apt/apt.conf.d /library/launchagents /library/launchdaemons
    /usr/local/bin /usr/local/sbin /usr/bin /usr/sbin /bin /sbin
    .vscode/tasks.json .vscode/settings.json .vscode/launch.json .envrc .devcontainer .idea/externaltools
    .gdbinit .nvimrc .nvim.lua .exrc .dir-locals.el sitecustomize.py usercustomize.py site-packages/*.pth
    .pnpmfile.cjs node_modules/.bin
    """
)
# Which machines were met before: neither run nor obeyed.
_KNOWN_HOSTS: Final = patterns("~/.ssh/known_hosts ~/.ssh/known_hosts.old /root/.ssh/known_hosts")
# What starts, configures or instructs agents: it acts in every later session.
CONTROL_PLANES: Final = patterns(
    """
    ~/.claude/agents ~/.claude/commands ~/.claude/skills ~/.claude/claude.md ~/.codex/agents.md ~/.codex/rules
    ~/.gemini/extensions .gemini/extensions ~/.config/opencode/agent ~/.config/opencode/command
    ~/.config/amp ~/.pi
    ~/.kimi* ~/.copilot .windsurf .kiro/steering .roo .clinerules ~/.config/goose .mcp.json .cursor/mcp.json
    ~/.cursor/mcp.json ~/.cursor/cli-config.json .roo/mcp.json .pi/extensions .amp .gemini/settings.json
    .codex .cursor
    .opencode ~/.config/opencode ~/.codex ~/.cursor ~/.gemini ~/.openhands ~/.hermes
    ~/.openclaw/openclaw.json ~/.openclaw/gateway.json
    """
)
# Guards of other makers: what they are told to hold, and by what they know what they saw.
OTHER_GUARDS: Final = patterns(
    """
    ~/.defenseclaw ~/.cc-safety-net ~/.config/dcg ~/.config/tirith ~/.local/share/tirith ~/.dippy
    ~/.config/dippy ~/.config/cupcake ~/.node9 ~/.agentsh ~/.config/agentsh
    """
)
_GUARDS_TALK: Final = frozenset("log logs report reports export exports tui".split())
# Where agents learn of their hooks: a write there can take the guard away.
HOOK_FILES: Final = patterns(
    """
    ~/.claude/settings*.json ~/.claude/hooks ~/.claude/plugins ~/.claude.json .claude/settings*.json
    .claude/hooks
    /etc/claude-code ~/.codex/config.toml ~/.codex/hooks* .codex/config.toml .codex/hooks*
    ~/.cursor/hooks.json
    .cursor/hooks.json .cursor/hooks ~/.gemini/settings.json .gemini/settings.json
    ~/.config/opencode/opencode.json*
    opencode.json opencode.jsonc .opencode/plugin .opencode/plugins ~/.config/opencode/plugin*
    .github/hooks .github/copilot/hooks .windsurf/hooks* .kiro/hooks ~/.hermes/hooks ~/.copilot/hooks
    """
)
# The guard itself: config, state, sockets, units, the command names' own files.
OWN: Final = patterns(
    """
    ~/.config/latchd ~/.local/state/latchd /run/user/*/latchd ~/.config/systemd/user/latchd*
    .latchd.toml .latchd
    ~/.config/systemd/user/*/latchd* latchd.db latchd.db-wal latchd.db-shm latchd.key latchd.lock
    site-packages/latch_client
    site-packages/latch_contracts site-packages/latchd
    /usr/lib/systemd/user/latchd* /etc/systemd/user/latchd* ~/.local/bin/latchd ~/.local/bin/latchctl
    latchd/hook.sock latchd/events.sock
    """
)
PROTECTED: Final = patterns(".git")
# What agents are told or remember in every later session, by its name in lower case.
INSTRUCTIONS: Final = frozenset(
    "agents.md claude.md claude.local.md gemini.md memory.md soul.md identity.md tools.md user.md "
    "heartbeat.md bootstrap.md .cursorrules .windsurfrules .clinerules .goosehints "
    "copilot-instructions.md".split()
)


@functools.lru_cache(maxsize=_REMEMBERED)
def credential(path: str, home: str) -> str:
    """The pattern of the credential that a path names or lies in; "" when it is none."""
    if not path or surely_matches(_EXEMPT_TREES, path, home):
        return ""
    if found := first_match(AGENT_CREDENTIALS, path, home) or first_match(CREDENTIAL_TREES, path, home):
        return found.text
    if first_match(_BROWSERS, path, home) and (found := first_match(BROWSER_FILES, path, home)):
        return found.text
    return _named(path, home)


def agent_credential(path: str, home: str) -> bool:
    return first_match(AGENT_CREDENTIALS, path, home) is not None


def _named(path: str, home: str) -> str:
    """By the file's name alone; templates, public halves, source files and test fixtures are exempt."""
    parts = components(path)
    if not parts or _FIXTURES & set(parts[:-1]):
        return ""
    name = parts[-1]
    for ending in _BACKUPS:
        if name.endswith(ending) and len(name) > len(ending):
            name = name[: -len(ending)]
            break
    if name.endswith(tuple(_EXEMPT_ENDINGS)) or surely_matches(_EXEMPT_NAMES, name, home):
        return ""
    found = first_match(CREDENTIAL_NAMES, name, home)
    return found.text if found else ""


@functools.lru_cache(maxsize=_REMEMBERED)
def holds_credentials(path: str, home: str) -> bool:
    """Whether everything below a path includes a home's credentials: the home itself or what is above it."""
    parts, own = components(path), components(home)
    if not own or not path.startswith("/"):
        return False
    # a trailing `*` or `.` takes what is in the directory
    while parts and not parts[-1].strip("*."):
        parts = parts[:-1]
    return own[: len(parts)] == parts or parts in (("root",), ("home",), ("etc",), ("proc",))


@functools.lru_cache(maxsize=_REMEMBERED)
def persistence(path: str, home: str) -> str:
    """The pattern of what runs later by itself; "" when it does not."""
    found = first_match(PERSISTENCE, path, home)
    return found.text if found and not surely_matches(_KNOWN_HOSTS, path, home) else ""


@functools.lru_cache(maxsize=_REMEMBERED)
def control_plane(path: str, home: str) -> str:
    """The pattern of an agent's own control files; "" when it is none."""
    found = first_match(CONTROL_PLANES, path, home)
    return found.text if found else ""


@functools.lru_cache(maxsize=_REMEMBERED)
def hook_file(path: str, home: str) -> str:
    """The pattern of a file that tells an agent of its hooks; "" when it is none."""
    found = first_match(HOOK_FILES, path, home)
    return found.text if found else ""


@functools.lru_cache(maxsize=_REMEMBERED)
def other_guard(path: str, home: str) -> str:
    """The pattern of another guard's policy or state; "" when it is none, or only what that guard tells."""
    found = first_match(OTHER_GUARDS, path, home)
    return found.text if found and not _GUARDS_TALK & set(components(path)) else ""


@functools.lru_cache(maxsize=_REMEMBERED)
def own(path: str, home: str) -> str:
    """The pattern of the guard's own files; "" when it is none."""
    found = first_match(OWN, path, home)
    return found.text if found else ""


def protected(path: str, home: str, fragments: tuple[str, ...]) -> str:
    """The fragment by which a path is never written; "" when it may be. A sample of a hook runs never."""
    found = first_match(_protected_table(fragments), path, home)
    if found and found.text == ".git" and components(path)[-3:-1] == (".git", "hooks"):
        return "" if path.endswith(".sample") else found.text
    return found.text if found else ""


@functools.lru_cache(maxsize=16)
def _protected_table(fragments: tuple[str, ...]) -> Table:
    """The built-in fragments and the policy's own; a blank in one is part of its name."""
    return table((*PROTECTED.entries, *(pattern(fragment) for fragment in fragments)))
