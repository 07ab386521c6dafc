"""Programs whose business is secrets, and the agents themselves when told to skip their own checks."""

from __future__ import annotations

from typing import Final

import msgspec

from latch_contracts.facts import Access, Operation
from latchd.shell.grammar.description import UNKNOWN, Context, Description
from latchd.shell.grammar.options import Parsed, Style, literal
from latchd.shell.grammar.program import acts, aimed, program
from latchd.shell.grammar.verbs import ASKS, HARMLESS, by_verb, with_files

_READ: Final = (Operation.CREDENTIAL_READ,)

_VAULTS: Final = """
--decrypt | exec-env | exec-file : credential_read
secrets list | kv list | kv metadata get | policy list | auth list | audit list | plugin list | lease list |\
    namespace list | secrets --only-names :
secrets set | secrets enable | secrets tune | secrets move | secrets upload | secrets notes : config_change
* delete | * disable | * revoke | * remove | * destroy | token revoke | lease revoke | * * delete :\
    delete +cloud-loss
kv get | read | print token | token lookup | unwrap | ssh | login --token-only | write -field* |\
    get | secrets get | secrets download | secrets | export | item get | read * |\
    inject | document get | get-secret-value | variable get | access |\
    show | ls --show | find --show | cat | view | decrypt | dump-keychain |\
    find-*-password | lookup | search --unlock | search --all |\
    print | pipe | request | env --show | reveal | edit |\
    otp | clip | read-secret | list items | get item | credential : credential_read
run | exec : execute +child-command
status | version | list | ls | help | path-help | vault list | item list | account list | whoami | sync |\
    lock | generate | find | projects | configs | environments | setup | keys | create-keychain |\
    list-keychains | show-keychain-info :
kv delete | kv destroy | delete | kv metadata delete | item delete | secrets delete | destroy | rm |\
    remove | delete-*-password | delete-keychain | clear : delete +cloud-loss
kv put | write | set | insert | store | add | add-*-password | import | login | logout | unlock-keychain |\
    init | policy | auth | encrypt | rekey | create | rotate | generate * |\
    item create | item edit | configure | git | mv | cp : config_change
"""


def _vault(parsed: Parsed, description: Description, context: Context) -> Description:
    """run and exec hand secrets to a command that is judged itself; one that prints them is a dump."""
    if "child-command" not in description.details:
        return with_files("file identity in")(parsed, description, context)
    words = [*parsed.operands[1:], *parsed.values("command")]
    printed = any(word.value.split()[:1] in (["env"], ["printenv"], ["set"], ["export"]) for word in words)
    operations = (Operation.EXECUTE, *((Operation.ENVIRONMENT_READ,) if printed else ()))
    return msgspec.structs.replace(description, known=printed, operations=operations)


def _pass(parsed: Parsed, context: Context) -> Description:
    """pass and gopass: a bare name shows the secret."""
    words = [word.value for word in parsed.operands]
    if not words or words[0] in (
        "ls",
        "list",
        "find",
        "search",
        "version",
        "help",
        "init",
        "generate",
        "insert",
        "git",
        "sync",
        "grep",
    ):
        return HARMLESS
    if words[0] in ("rm", "remove", "delete"):
        return Description(known=True, operations=(Operation.DELETE,))
    return Description(known=True, operations=_READ)


def _gpg(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("export-secret-keys", "export-secret-subkeys", "export-ssh-key", "export-secret-key"):
        return Description(known=True, operations=_READ, targets=aimed(Access.WRITE, parsed.values("output")))
    if parsed.has("delete-secret-keys", "delete-secret-and-public-key", "delete-secret-key"):
        return Description(known=True, operations=(Operation.DELETE, Operation.CONFIG_CHANGE))
    written = parsed.values("output")
    network = parsed.has(
        "recv-keys", "send-keys", "search-keys", "refresh-keys", "keyserver", "fetch-keys", "receive-keys"
    )
    decrypts = parsed.has("decrypt")
    return Description(
        known=True,
        operations=(
            *(_READ if decrypts else ()),
            *((Operation.DECODE,) if decrypts else ()),
            *((Operation.READ,) if parsed.operands else ()),
            *((Operation.CONNECT,) if network else ()),
            *((Operation.CONFIG_CHANGE,) if parsed.has("import", "edit-key", "delete-keys") else ()),
            *((Operation.WRITE,) if written else ()),
        ),
        targets=(*aimed(Access.READ, parsed.operands if not network else ()), *aimed(Access.WRITE, written)),
        reads_stdin=not parsed.operands,
        writes_stdout=not written,
    )


def _age(parsed: Parsed, _context: Context) -> Description:
    written = parsed.values("output")
    return Description(
        known=True,
        operations=(
            *(_READ if parsed.has("decrypt") else ()),
            Operation.READ,
            *((Operation.WRITE,) if written else ()),
        ),
        targets=(
            *aimed(Access.READ, (*parsed.operands, *parsed.values("identity"))),
            *aimed(Access.WRITE, written),
        ),
        reads_stdin=not parsed.operands,
        writes_stdout=not written,
    )


def _keygen(parsed: Parsed, _context: Context) -> Description:
    """ssh-keygen: -y prints the public half of a private key; a new key is written at -f."""
    if parsed.has("l", "F", "B", "Q", "L"):
        return Description(known=True, targets=aimed(Access.METADATA, parsed.values("f")))
    if parsed.has("y"):
        return Description(known=True, operations=_READ, targets=aimed(Access.READ, parsed.values("f")))
    if parsed.has("R"):  # takes a host out of the known ones; the old file stays beside it
        known = parsed.values("f") or (literal("~/.ssh/known_hosts"),)
        return Description(
            known=True,
            operations=(Operation.CONFIG_CHANGE, Operation.WRITE),
            targets=aimed(Access.WRITE, known),
        )
    return Description(
        known=True, operations=(Operation.WRITE,), targets=aimed(Access.WRITE, parsed.values("f"))
    )


def _ssh_add(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("l", "L"):
        return HARMLESS
    return Description(
        known=True, operations=(Operation.CONFIG_CHANGE,), targets=aimed(Access.METADATA, parsed.operands)
    )


def _keystore(parsed: Parsed, _context: Context) -> Description:
    """keytool: a keystore made out of another holds its private keys."""
    if parsed.has("importkeystore"):
        return Description(
            known=True,
            operations=(*_READ, Operation.WRITE),
            targets=(
                *aimed(Access.READ, parsed.values("srckeystore")),
                *aimed(Access.WRITE, parsed.values("destkeystore")),
            ),
        )
    if parsed.has("list", "printcert"):
        return HARMLESS
    return Description(known=True, operations=(Operation.CONFIG_CHANGE,))


_BYPASS: Final = (
    "dangerously-skip-permissions allow-dangerously-skip-permissions "
    "dangerously-bypass-approvals-and-sandbox full-auto yolo allow-all-tools allow-all-paths "
    "no-sandbox dangerously-allow-all trust-all-tools yes-always "
).split()


# Keys of an agent's own configuration by which the hooks that ask this guard are not called.
_UNHOOKS: Final = frozenset(("hooks", "features.hooks", "features.codex_hooks", "codex_hooks"))


def _agent(parsed: Parsed, _context: Context) -> Description:
    """A coding agent started from a coding agent; with its checks off it is a bypass of this one's."""
    modes = {
        word.value
        for word in parsed.values("permission-mode", "sandbox", "ask-for-approval", "approval-mode")
    }
    settings = [
        word.value for word in (*parsed.values("settings"), *parsed.values("c"), *parsed.values("config"))
    ]
    bypass = (
        parsed.has(*_BYPASS)
        or bool(modes & {"bypassPermissions", "danger-full-access", "never", "yolo"})
        or any("disableAllHooks" in text or text.partition("=")[0] in _UNHOOKS for text in settings)
    )
    return Description(
        known=True,
        operations=(Operation.EXECUTE, *((Operation.POLICY_BYPASS,) if bypass else ())),
        reads_stdin=True,
    )


PROGRAMS: Final = (
    program(
        "vault op bw doppler infisical lpass security secret-tool kwallet-query keyring sops "
        "ansible-vault systemd-creds keyctl chamber berglas akeyless conjur "
        "cmdkey aws-vault teller envchain summon",
        "~ field= address= namespace= f,file= i,identity= k,key= d,decrypt e,encrypt w show token-only "
        "unlock s= a= format= output-type= in-place r n= command= only-names p= c= project= config= "
        "env-file=",
        by_verb(_VAULTS, UNKNOWN, _vault),
        {
            "vault kv get secret/x": "credential_read",
            "op read op://v/i/f": "credential_read",
            "op item get x": "credential_read",
            "security find-generic-password -w -s x": "credential_read",
            "vault status": "",
            "sops decrypt a.yaml": "credential_read",
            "ansible-vault view a.yml": "credential_read",
            "secret-tool lookup a b": "credential_read",
            "doppler secrets": "credential_read",
            "vault kv delete secret/x": "delete +cloud-loss",
            "vault secrets list": "",
            "vault kv list secret/": "",
            "sops -d a.yaml": "credential_read",
            "doppler run -- npm start": "? execute +child-command",
            "doppler run -- env": "execute environment_read +child-command",
            "doppler secrets set A=1": "config_change",
            "doppler secrets --only-names": "",
        },
    ),
    program(
        "keepassxc-cli",
        "~ k,key-file= s,show-protected a,attributes= q,quiet no-password y,yubikey= f,format= t,totp all",
        by_verb(
            "show | export | clip | attachment-export : credential_read\n"
            "rm | rmdir : delete +cloud-loss\n"
            "ls | search | db-info | estimate | generate | diceware :\n"
            "add | edit | mv | mkdir | merge | import | db-create | db-edit |"
            " attachment-import : config_change",
            UNKNOWN,
        ),
        {
            "keepassxc-cli show -s db x": "credential_read",
            "keepassxc-cli export db": "credential_read",
            "keepassxc-cli ls db": "",
            "keepassxc-cli generate": "",
        },
    ),
    program(
        "wg",
        "~",
        by_verb(
            "showconf | show * private-key | show * dump : credential_read\nshow | pubkey | genkey :"
            "\nset * | setconf | addconf | syncconf : config_change",
            HARMLESS,
        ),
        {"wg showconf wg0": "credential_read", "wg show": "", "wg genkey": "", "wg set wg0": "config_change"},
    ),
    program(
        "secretsdump.py impacket-secretsdump mimikatz mimikatz.exe lsassy pypykatz lazagne laZagne.py "
        "unshadow samdump2 gsecdump",
        "~",
        acts(Operation.CREDENTIAL_READ),
        {"secretsdump.py x": "credential_read"},
    ),
    program(
        "pass gopass passage",
        "~ c,clip o",
        _pass,
        {"pass show x": "credential_read", "pass x": "credential_read", "pass ls": ""},
    ),
    program(
        "gpg gpg2 gpgv",
        "~ o,output= r,recipient= u,local-user= homedir= keyserver= d,decrypt e,encrypt s,sign "
        "c,symmetric import export-secret-keys "
        "export-secret-subkeys export-ssh-key export-secret-key recv-keys receive-keys send-keys "
        "search-keys refresh-keys fetch-keys delete-keys edit-key "
        "delete-secret-keys delete-secret-key delete-secret-and-public-key passphrase= "
        "passphrase-file= passphrase-fd= default-key= trust-model= k,list-keys K,list-secret-keys "
        "verify",
        _gpg,
        {
            "gpg --export-secret-keys x": "credential_read",
            "gpg -d a.gpg": "credential_read decode read read:a.gpg",
            "gpg --verify a.sig a": "read read:a.sig read:a",
            "gpg --recv-keys X": "read connect",
            "gpg -e -r me a": "read read:a",
        },
    ),
    program(
        "age rage",
        "~ d,decrypt e,encrypt i,identity= r,recipient= R= o,output= p",
        _age,
        {
            "age -d -i k a.age": "credential_read read read:a.age read:k",
            "age -r x -o a.age a": "read write read:a write:a.age >none",
        },
    ),
    program(
        "ssh-keygen",
        "~ f= t= b= C= N= P= R= F= l y B Q L I= n= O= V= s= D= m= E=",
        _keygen,
        {
            "ssh-keygen -y -f k": "credential_read read:k",
            "ssh-keygen -t ed25519 -f k": "write write:k",
            "ssh-keygen -lf k": "metadata:k",
            "ssh-keygen -R example.com": "config_change write write:~/.ssh/known_hosts",
            "ssh-keygen -f k -R example.com": "config_change write write:k",
        },
    ),
    program(
        "ssh-add ssh-agent ssh-keyscan",
        "~ l L d D t= T= p=",
        _ssh_add,
        {"ssh-add k": "config_change metadata:k", "ssh-add -l": ""},
    ),
    program(
        "docker-credential-desktop docker-credential-osxkeychain docker-credential-pass "
        "docker-credential-secretservice docker-credential-ecr-login docker-credential-gcloud "
        "docker-credential-wincred",
        "~",
        by_verb("get | list : credential_read\nstore | erase : config_change\nversion :", UNKNOWN),
        {
            "docker-credential-pass get": "credential_read",
            "docker-credential-desktop list": "credential_read",
        },
    ),
    program(
        "certbot acme.sh mkcert step",
        "~",
        acts(Operation.CONFIG_CHANGE),
        {"mkcert localhost": "config_change"},
    ),
    program(
        "keytool",
        "~ list v rfc keystore= storepass= alias= exportcert importkeystore genkeypair delete importcert "
        "file= srckeystore= destkeystore= keypass= storetype= printcert",
        _keystore,
        {
            "keytool -list -keystore a.jks": "",
            "keytool -importkeystore -srckeystore a.jks -destkeystore b.p12": (
                "credential_read write read:a.jks write:b.p12"
            ),
            "keytool -genkeypair -keystore a.jks": "config_change",
        },
        style=Style.DASHED,
    ),
    program(
        "claude codex gemini opencode cursor-agent copilot amp aider goose crush kimi qwen pi droid auggie",
        "~ p,print m,model= permission-mode= s,sandbox? a,ask-for-approval= "
        "approval-mode= dangerously-skip-permissions allow-dangerously-skip-permissions "
        "dangerously-bypass-approvals-and-sandbox full-auto y,yolo allow-all-tools "
        "allow-all-paths no-sandbox dangerously-allow-all trust-all-tools yes-always c= config= "
        "add-dir= output-format= r,resume? settings=",
        _agent,
        {
            "claude -p x": "execute <stdin",
            "claude --dangerously-skip-permissions": "execute policy_bypass <stdin",
            "codex --dangerously-bypass-approvals-and-sandbox": "execute policy_bypass <stdin",
            "gemini --yolo": "execute policy_bypass <stdin",
            "claude --permission-mode bypassPermissions": "execute policy_bypass <stdin",
            "claude --settings '{\"disableAllHooks\":true}' -p x": "execute policy_bypass <stdin",
            "claude --settings ./settings.json -p x": "execute <stdin",
            "codex -c hooks={} exec x": "execute policy_bypass <stdin",
            "codex -c model=o3 exec x": "execute <stdin",
        },
    ),
    program(
        "hg svn bzr fossil jj darcs",
        "~ R,repository= r,rev= m,message= u= cwd= C,clean f,force",
        by_verb(
            """
update --clean | up --clean | co --clean | checkout --clean | revert | purge | clean | strip | \
    histedit | rollback | cleanup --remove* | abandon | restore | undo | \
    op restore : work_loss +discard-work
push --force : connect work_loss +remote-loss
clone | pull | incoming | outgoing | fetch | git fetch | git clone | checkout | co | export | \
    switch : connect fetch
push | commit | ci | git push : connect
status | st | diff | log | annotate | blame | cat | info | ls | list | id | identify | heads | \
    branches | tags | summary | show | help | version | root | paths :
add | rm | remove | mv | move | copy | cp | merge | branch | tag | init | resolve | update | up | new | \
    describe | bookmark | rebase | shelve | unshelve | squash | edit | split : write
""",
            ASKS,
        ),
        {
            "hg update -C": "work_loss +discard-work",
            "svn revert a": "work_loss +discard-work",
            "hg status": "",
            "svn checkout https://example.com/a": "connect fetch",
            "hg purge": "work_loss +discard-work",
            "jj log": "",
        },
    ),
)
