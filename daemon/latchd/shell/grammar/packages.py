"""Package managers, task runners, compilers, linters and test runners."""

from __future__ import annotations

from typing import Final

import msgspec

from latch_contracts.facts import Access, NetAction, Operation
from latchd.shell.grammar.description import UNKNOWN, Contact, Context, Description
from latchd.shell.grammar.options import Parsed, Style, below
from latchd.shell.grammar.program import aimed, executes, neutral, program
from latchd.shell.grammar.verbs import HARMLESS, RUNS, by_verb, with_files

_PIP: Final = """
install --dry-run | download --dry-run : preview
install | sync : install connect
download | wheel : fetch connect
uninstall : delete
list | show | freeze | check | search | index | inspect | debug | hash | help | config list | config get |\
    config debug | cache dir | cache list :
config : config_change
cache : delete
"""
_NPM: Final = """
* --dry-run : preview
unpublish | deprecate | owner rm | dist-tag rm | team destroy | org rm : delete connect +registry-loss
publish : upload connect +publish
token list | token create | token | config get *uth* | get *uth* : credential_read connect
whoami | profile get : connect
login | logout | adduser | config set | config delete | set | profile set | access : config_change connect
install | i | add | ci | isntall | in | install-test | it | update | up | upgrade | link | rebuild |\
    install-ci-test | dedupe | audit fix | import | fetch : install connect
exec | x | dlx | create | init * : install connect execute +runner
run | run-script | test | t | tst | start | stop | restart | workspace | workspaces | lint | build | dev |\
    prepare : execute +script
uninstall | remove | rm | un | r | prune | cache clean | store prune : delete
ls | list | ll | la | outdated | view | info | show | v | audit | why | explain | help | doctor | docs |\
    repo | bugs | root | prefix | bin | config list | config get | get | search | version | fund |\
    pkg get | ping | query | licenses :
init | pack | pkg | shrinkwrap | patch | patch-commit | completion | cache | store | edit | version * : write
"""
_CARGO: Final = """
* --dry-run : preview
publish : upload connect +publish
yank | owner --remove : delete connect +registry-loss
install | add | update | fetch | vendor | generate-lockfile : install connect
uninstall | remove | clean : delete
build | b | run | r | test | t | bench | check | c | clippy | doc | d | rustc | rustdoc | nextest | miri |\
    expand | llvm-cov | watch : execute
fmt | fix | init | new : write execute
tree | metadata | search | version | locate-project | pkgid | verify-project | info | help | audit |\
    deny | outdated :
login | logout | owner : config_change connect
"""
_GO: Final = """
get | install | mod download | mod tidy | mod vendor | work sync : install connect
build | run | test | generate | vet | tool | bug : execute
clean : delete
fmt | mod init | mod edit | fix | work init | work use : write
env --w : config_change
env | version | list | doc | mod graph | mod why | mod verify | help | telemetry :
"""
_SYSTEM: Final = """
install --dry-run | install --simulate | install --just-print | * --dry-run | * --simulate : preview
install | reinstall | upgrade | update | dist-upgrade | full-upgrade | add | build-dep | groupinstall |\
    localinstall | localupdate | in | up | dup | tap | refresh | download | source | satisfy | sync |\
    run | switch | bundle : install connect
remove | purge | autoremove | autopurge | uninstall | erase | del | rm | clean | autoclean | cleanup |\
    untap | rollback : delete
search | show | list | info | policy | depends | rdepends | history | check | check-update | repolist |\
    provides | whatprovides | files | deps | uses | leaves | outdated | doctor | config | home |\
    changelog | moo | showpkg | stats | dump | pkgnames | madison | help | cat | log | options | desc |\
    audit | verify | tree | owns | what :
hold | unhold | pin | unpin | link | unlink | services | mark | edit | add-repository | enable | disable |\
    connect | set | alias : config_change
"""
_GEM: Final = """
push | release : upload connect +publish
yank | owner --remove : delete connect +registry-loss
install | update | bundle | add | fetch | require | global require | create-project |\
    global add : install connect
exec | run | script* | run-script : execute +script
uninstall | cleanup | remove | clean | pristine : delete
list | search | info | show | outdated | environment | env | contents | which | query | check |\
    specification | dependency | help | why | licenses | audit | status | validate | viz | open |\
    platform | doctor | diagnose | depends | config --list :
config | signin | signout | source* | cert | owner : config_change
build | init | lock | gem | dump-autoload | pack | package | new : write execute
"""
_MAVEN: Final = """
deploy | publish | publish* | release:perform | uploadArchives : upload connect +publish
clean : delete execute
flyway:clean | flywayClean | liquibase:dropAll | dropAll | hibernate:drop : connect write +database-loss
help | dependencies | tasks | projects | properties | dependency:tree | versions:display* :
"""
_POETRY: Final = """
publish --dry-run : preview
publish : upload connect +publish
install | add | update | sync | lock | tool install | tool upgrade | pip install | pip sync |\
    python install | self update | create | env create | inject | reinstall* | upgrade* |\
    export : install connect
run | tool run | x | shell | script : execute +script
remove | uninstall | cache clear | cache clean | cache prune | pip uninstall | env remove |\
    tool uninstall | self remove | clean | uninstall-all | env prune : delete
show | list | check | search | version | tree | env list | env info | pip list | pip show | pip freeze |\
    pip tree | pip check | info | python list | python find | tool list | cache dir | about | help |\
    config --list | runpip | environment :
auth token : credential_read
init | new | venv | build | format | lint | pip compile | config | self | source | activate | deactivate |\
    auth | generate-shell-completion | python : write execute
"""


def _pip_extra(parsed: Parsed, description: Description, context: Context) -> Description:
    """Requirement files are read, local directories are executed (their build runs), indexes are peers."""
    if Operation.INSTALL not in description.operations:
        return description
    local = [
        word
        for word in parsed.operands[1:]
        if word.value in (".", "..") or word.value.startswith(("./", "../", "/"))
    ]
    remote = [word for word in parsed.operands[1:] if "://" in word.value]
    return msgspec.structs.replace(
        description,
        targets=(
            *aimed(Access.READ, parsed.values("requirement", "constraint")),
            *aimed(Access.EXECUTE, (*local, *parsed.values("editable"))),
            *aimed(Access.WRITE, parsed.values("target", "prefix", "root")),
        ),
        contacts=tuple(
            Contact(NetAction.DOWNLOAD, word)
            for word in (*remote, *parsed.values("index-url", "extra-index-url", "find-links"))
            if "://" in word.value
        ),
    )


def _npm(parsed: Parsed, context: Context) -> Description:
    if not parsed.operands:
        return HARMLESS
    return _npm_verbs(parsed, context)


_EXECUTING_KEYS: Final = frozenset(
    "script-shell node-options shell git editor viewer browser onload-script init-module userconfig "
    "globalconfig pnpmfile global-pnpmfile yarnpath yarn-path plugins".split()
)


def _executing_setting(parsed: Parsed, description: Description, _context: Context) -> Description:
    """config set: some keys name what runs with the next script."""
    words = [word.value for word in parsed.operands]
    if words[0] in ("config", "c"):
        words = words[1:]
    if len(words) < 2 or words[0] != "set":
        return description
    keys = {word.partition("=")[0].lower() for word in words[1:] if "=" in word} | {words[1].lower()}
    if not keys & _EXECUTING_KEYS:
        return description
    return msgspec.structs.replace(description, details=(*description.details, "executing-config"))


_npm_verbs = by_verb(
    _NPM,
    Description(known=True, operations=(Operation.EXECUTE,), details=("script",)),
    _executing_setting,
)


def _yarn(parsed: Parsed, context: Context) -> Description:
    """yarn and bun without a verb install everything; a file operand of bun is a script."""
    if not parsed.operands:
        return Description(known=True, operations=(Operation.INSTALL, Operation.CONNECT))
    return _npm_verbs(parsed, context)


def _runner(parsed: Parsed, _context: Context) -> Description:
    """npx, pnpx, bunx, uvx, pipx run: fetch a package if need be and run it."""
    if not parsed.operands and not parsed.has("package", "call"):
        return HARMLESS
    return Description(
        known=True, operations=(Operation.INSTALL, Operation.CONNECT, Operation.EXECUTE), details=("runner",)
    )


def _pacman(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("S", "sync", "U", "upgrade") and not parsed.has("search", "info", "print", "i", "s", "p"):
        return Description(known=True, operations=(Operation.INSTALL, Operation.CONNECT))
    if parsed.has("R", "remove"):
        return Description(known=True, operations=(Operation.DELETE,))
    return HARMLESS


def _packages_low(parsed: Parsed, _context: Context) -> Description:
    """dpkg and rpm: -i and -U put a local package in, -r -P -e take one out."""
    if parsed.has("install", "upgrade", "freshen", "unpack", "configure"):
        return Description(
            known=True, operations=(Operation.INSTALL,), targets=aimed(Access.EXECUTE, parsed.operands)
        )
    if parsed.has("remove", "purge", "erase"):
        return Description(known=True, operations=(Operation.DELETE,))
    return HARMLESS


def _makes(parsed: Parsed, context: Context) -> Description:
    """make runs what the makefile says; -n only shows, -p prints variables, the environment among them."""
    if parsed.has("print-data-base"):
        return Description(known=True, operations=(Operation.ENVIRONMENT_READ,))
    files = parsed.values("file", "justfile", "taskfile")
    for directory in reversed(parsed.values("directory")):  # each starts from the one before
        files = tuple(below(directory, word) for word in files)
    fed = context.piped and any(word.value in ("-", "/dev/stdin") for word in parsed.values("file"))
    return Description(
        known=True,
        # even -n runs $(shell …) and + lines
        operations=(Operation.EXECUTE, *((Operation.RUN_INPUT,) if fed else ())),
        targets=aimed(Access.EXECUTE, files),
        details=("script",),
    )


def _encodes(parsed: Parsed, _context: Context) -> Description:
    """ffmpeg: nearly all its options take a value; -i names what is read, the last word what is made."""
    words = parsed.words
    made = [words[-1]] if words and not words[-1].value.startswith("-") else []
    if len(words) > 1 and words[-2].value == "-i":
        made = []
    read, written = aimed(Access.READ, parsed.values("i")), aimed(Access.WRITE, made)
    operations = (*([Operation.READ] if read else []), *([Operation.WRITE] if written else []))
    return Description(known=True, operations=operations, targets=(*read, *written))


def _converts(parsed: Parsed, _context: Context) -> Description:
    """Media and document converters: -i names inputs, the last operand is made from the others."""
    outputs = (*parsed.values("o"), *parsed.operands[-1:])
    return Description(
        known=True,
        operations=(Operation.READ, Operation.WRITE),
        targets=(
            *aimed(Access.READ, (*parsed.values("i"), *parsed.operands[:-1])),
            *aimed(Access.WRITE, outputs),
        ),
    )


def _formats(parsed: Parsed, _context: Context) -> Description:
    """Formatters and linters: --fix and --write rewrite their operands; configurations can run code."""
    rewrites = parsed.has("fix", "write", "w", "i", "in-place", "inplace", "fix-dry-run") and not parsed.has(
        "check", "diff"
    )
    words = tuple(word for word in parsed.operands if word.value not in _LINT_VERBS)
    return Description(
        known=True,
        operations=(Operation.EXECUTE, Operation.READ, *((Operation.WRITE,) if rewrites else ())),
        targets=(
            *aimed(Access.READ, words, recursive=True),
            *(aimed(Access.APPEND, words, recursive=True) if rewrites else ()),
        ),
        details=("in-place",) if rewrites else (),
    )


_LINT_VERBS: Final = frozenset(("check", "format", "lint", "run", "server", "clean", "rule", "config"))


_conda_verbs = by_verb(
    """
* --dry-run : preview
install | create | update | upgrade | env create | env update : install connect
remove | uninstall | env remove | clean : delete
run : execute +script
list | info | search | env list | config --show | config --get | doctor :
activate | deactivate | init | config | env | shell | rename : config_change
""",
    UNKNOWN,
)
_NIX: Final = """
search | show | eval | flake show | flake metadata | flake check | path-info | why-depends | log | store ls :
run | shell | develop | build : install connect execute +runner
profile remove | store gc | store delete | collect-garbage | upgrade-nix : delete
profile install | profile upgrade | flake update | flake lock | copy | registry : install connect
"""


PROGRAMS: Final = (
    program(
        "pip pipenv-pip",
        "~ r,requirement= c,constraint= e,editable= t,target= prefix= root= i,index-url= "
        "extra-index-url= f,find-links= proxy= "
        "cache-dir= log= d,dest= dry-run U,upgrade python= report= only-binary= no-binary= platform= "
        "trusted-host= cert=",
        by_verb(_PIP, UNKNOWN, _pip_extra),
        {
            "pip install x": "install connect",
            "pip download x": "fetch connect",
            "pip3 install -r r.txt": "install connect read:r.txt",
            "pip list": "",
            "pip install .": "install connect execute:.",
            "pip install -i https://example.com/simple x": (
                "install connect download@https://example.com/simple"
            ),
            "pip uninstall -y x": "delete",
            "pip install --dry-run x": "preview",
        },
    ),
    program(
        "uv poetry pdm hatch rye pixi pipx pipenv virtualenv easy_install conan vcpkg",
        "~ C,directory= P,project= p,python= r,requirement= group= extra= index-url= with= list dry-run",
        by_verb(_POETRY, RUNS),
        {
            "uv sync": "install connect",
            "uv run x": "execute +script",
            "poetry add x": "install connect",
            "pipx install x": "install connect",
            "uv pip list": "",
            "poetry publish": "upload connect +publish",
            "uv publish --dry-run": "preview",
        },
    ),
    program(
        "conda mamba micromamba",
        "~ n,name= c,channel= f,file= p,prefix= dry-run show get=",
        _conda_verbs,
        {"conda install -n x y": "install connect", "conda env list": ""},
    ),
    program(
        "npm",
        "~ prefix= C= registry= w,workspace= tag= omit= dry-run otp= userconfig= c,call=",
        _npm,
        {
            "npm install": "install connect",
            "npm ci": "install connect",
            "npm run build": "execute +script",
            "npm unpublish x": "delete connect +registry-loss",
            "npm publish": "upload connect +publish",
            "npm exec x": "install connect execute +runner",
            "npm ls": "",
            "npm token list": "credential_read connect",
            "npm i -g x": "install connect",
            "npm publish --dry-run": "preview",
            "npm whoami": "connect",
            "npm config set script-shell /tmp/x": "config_change connect +executing-config",
            "npm set script-shell=/tmp/x": "config_change connect +executing-config",
            "npm config set fund false": "config_change connect",
        },
    ),
    program(
        "yarn pnpm",
        "~ cwd= C,dir= F,filter= registry= dry-run w",
        _yarn,
        {
            "yarn": "install connect",
            "pnpm dlx x": "install connect execute +runner",
            "yarn add x": "install connect",
            "pnpm -r build": "execute +script",
        },
    ),
    program(
        "npx pnpx bunx uvx degit",
        "~ p,package= c,call= from= with= python= y,yes",
        _runner,
        {"npx cowsay x": "install connect execute +runner", "uvx ruff": "install connect execute +runner"},
        style=Style.LEADING,
    ),
    program(
        "corepack volta nvm fnm n asdf mise rtx pyenv rbenv nodenv sdk tfenv goenv jenv rustup",
        "~",
        by_verb(
            """
install | use | enable | prepare | add | update | upgrade | default | toolchain install | \
    component add | target add | self update | pin | reshim : install connect
uninstall | remove | rm | self uninstall | toolchain uninstall | prune : delete
exec | run | x | which-run : execute +script
list | ls | current | which | versions | version | show | help | ls-remote | whence | info | doctor | \
    where | outdated | root | prefix :
global | local | shell | set | alias | init | override | settings | trust | rehash : config_change
""",
            RUNS,
        ),
        {"nvm install 20": "install connect", "pyenv versions": "", "rustup update": "install connect"},
    ),
    program(
        "cargo",
        "~ manifest-path= p,package= features= target= j,jobs= git= path= version= dry-run Z= config= "
        "color= remove= C=",
        by_verb(_CARGO, RUNS),
        {
            "cargo build": "execute",
            "cargo install x": "install connect",
            "cargo publish": "upload connect +publish",
            "cargo clean": "delete",
            "cargo tree": "",
            "cargo +nightly test": "execute",
            "cargo yank x": "delete connect +registry-loss",
        },
    ),
    program(
        "go",
        "~ o= C= w run= tags= mod= count= timeout= v",
        by_verb(_GO, RUNS),
        {"go build ./...": "execute", "go get x": "install connect", "go env": "", "go clean": "delete"},
        style=Style.DASHED,
    ),
    program(
        "apt apt-get aptitude dnf yum microdnf zypper apk brew port snap flatpak winget choco scoop "
        "pkg eopkg xbps-install emerge nix-env swupd tdnf add-apt-repository apt-cache apt-mark apt-key",
        "~ t,target-release= o,option= c,config-file= s,simulate,just-print dry-run,n y,yes q repo= "
        "enablerepo= disablerepo= root=",
        by_verb(_SYSTEM, HARMLESS),
        {
            "apt-get install -y x": "install connect",
            "brew install x": "install connect",
            "apt list --installed": "",
            "dnf remove x": "delete",
            "apt-get -s install x": "preview",
            "brew tap a/b": "install connect",
        },
    ),
    program(
        "pacman yay paru",
        "~ S,sync R,remove Q,query U,upgrade s,search i,info p,print",
        _pacman,
        {"pacman -Syu x": "install connect", "pacman -Qs x": "", "pacman -Rns x": "delete"},
    ),
    program(
        "dpkg rpm dpkg-reconfigure rpm2cpio dpkg-deb dpkg-query",
        "~ i,install U,upgrade F,freshen r,remove P,purge e,erase q,query l,list L s S",
        _packages_low,
        {"dpkg -i a.deb": "install execute:a.deb", "rpm -qa": "", "dpkg -r x": "delete", "dpkg -l": ""},
    ),
    program(
        "gem bundle bundler composer cpan cpanm luarocks nuget mix rebar3 hex opam cabal stack dart "
        "pub flutter pod carthage",
        "~ v,version= s,source= remove= d,working-dir= list",
        by_verb(_GEM, RUNS),
        {
            "gem install x": "install connect",
            "bundle install": "install connect",
            "bundle exec x": "execute +script",
            "composer require x": "install connect",
            "gem push a.gem": "upload connect +publish",
            "gem yank x": "delete connect +registry-loss",
        },
    ),
    program(
        "dotnet",
        "~ c,configuration= f,framework= o,output= source=",
        by_verb(
            """
nuget push : upload connect +publish
nuget delete : delete connect +registry-loss
restore | add | tool install | tool restore | tool update | workload install | new install : install connect
remove | clean | tool uninstall : delete
build | run | test | publish | pack | watch | msbuild | exec | format | ef : execute
list | help | sln list :
""",
            RUNS,
        ),
        {"dotnet build": "execute", "dotnet add package x": "install connect"},
    ),
    program(
        "mvn mvnw gradle gradlew sbt ant bazel buck lein",
        "~ f,file= P= D= s,settings= b,build-file= p,project-dir= x,exclude-task= I,init-script=",
        by_verb(_MAVEN, RUNS, with_files("file settings")),
        {
            "mvn test": "execute",
            "gradle build": "execute",
            "mvn deploy": "upload connect +publish",
            "mvn flyway:clean": "connect write +database-loss",
            "gradle flywayMigrate": "execute",
            "mvn clean install": "delete execute",
        },
    ),
    program(
        "nix guix",
        "~ I= f= A=",
        by_verb(_NIX, RUNS),
        {"nix run x": "install connect execute +runner", "nix search x": ""},
    ),
    program(
        "nix-shell nix-build nix-channel nix-store nix-collect-garbage",
        "~ p,packages I= A= run= command=",
        executes,
        {"nix-shell -p x": "execute"},
    ),
    program(
        "make gmake bmake remake just task rake invoke doit ninja meson ctest scons xmake tup "
        "waf autoreconf autoconf automake configure aclocal libtool",
        "~ f,file,makefile= C,directory= j,jobs? n,just-print,dry-run,recon p,print-data-base k W= o= "
        "I= S= B= G= D= build= target= t,taskfile= justfile=",
        _makes,
        {
            "make -j4 all": "execute +script",
            "make -n": "execute +script",
            "make -C x -f y.mk": "execute execute:x/y.mk +script",
            "make -pn": "environment_read",
            "| make -f -": "execute run_input +script",
            "just x": "execute +script",
        },
    ),
    program(
        "gcc cc g++ c++ clang clang++ tcc as ld gfortran rustc javac kotlinc scalac ghc ocamlfind "
        "ocamlc nasm yasm swiftc tsc esbuild swc protoc nvcc zig nim crystal gnatmake fpc dmd "
        "webpack vite rollup parcel turbo nx lerna next nuxt gatsby astro ng expo react-scripts "
        "storybook tailwindcss sass postcss babel",
        "~ o= I= L= l= D= x= std= outFile= outDir= outfile= outdir= p,project= config= cp= d= target= c",
        executes,
        {"gcc -o a a.c": "execute", "tsc -p .": "execute", "vite build": "execute"},
    ),
    program(
        "ruff black isort flake8 pylint mypy pyright eslint prettier biome stylelint shellcheck shfmt "
        "gofmt goimports rustfmt clang-format clang-tidy cppcheck rubocop standardrb "
        "golangci-lint hadolint yamllint markdownlint ktlint autopep8 yapf pyflakes bandit semgrep "
        "djlint taplo dprint oxlint tflint swiftformat swiftlint phpcs phpstan luacheck stylua vale "
        "codespell "
        "actionlint commitlint typos detect-secrets gitleaks trufflehog trivy grype syft snyk checkov",
        "~ config= c,config-file= ignore= select= fix write w i,in-place check diff line-length= "
        "l,line= p,python-version= ext= rulesdir= format= output-format= exclude=",
        _formats,
        {
            "ruff check --fix src": "execute read write read:src/** append:src/** +in-place",
            "eslint .": "execute read read:./**",
            "prettier --write a.ts": "execute read write read:a.ts/** append:a.ts/** +in-place",
            "black --check .": "execute read read:./**",
            "shellcheck a.sh": "execute read read:a.sh/**",
        },
    ),
    program(
        "pytest py.test tox nox jest vitest mocha ava karma cypress playwright rspec phpunit behave "
        "robot coverage nyc c8 bats unittest locust k6 newman selenium-side-runner "
        "pre-commit husky lint-staged lefthook act jupyter ipykernel notebook streamlit gunicorn "
        "uvicorn flask django-admin rails hypercorn celery scrapy sphinx-build mkdocs hugo jekyll "
        "docusaurus",
        "~ k= m= n= c= o= p= maxfail= config= r=",
        executes,
        {"pytest -x tests": "execute", "jest --watch": "execute", "tox -e py": "execute"},
    ),
    program(
        "serve http-server live-server json-server caddy nginx httpd apache2ctl",
        "~ p= c= d=",
        lambda parsed, context: Description(
            known=True, operations=(Operation.EXECUTE, Operation.LISTEN), details=("listener",)
        ),
        {"serve -p 3000": "execute listen +listener"},
    ),
    program(
        "gprof size-limit cloc tokei scc hyperfine wrk ab siege dot graphviz plantuml convert magick "
        "identify ffprobe exiftool qrencode",
        "~ o=",
        neutral,
        {"cloc .": "", "tokei": ""},
    ),
    program(
        "ffmpeg ffplay",
        "~ i= y n hide_banner nostdin stats nostats vn an sn dn shortest re",
        _encodes,
        {
            "ffmpeg -y -i a.mov b.mp4": "read write read:a.mov write:b.mp4",
            "ffmpeg -i a.mov -vcodec copy -filter_complex x b.mp4": "read write read:a.mov write:b.mp4",
            "ffmpeg -i a.mov": "read read:a.mov",
            "ffmpeg -version": "preview",
        },
        style=Style.DASHED,
    ),
    program(
        "sox lame gs pdftotext pdfunite pdftk qpdf inkscape soffice libreoffice wkhtmltopdf "
        "latex pdflatex xelatex",
        "~ o= i= f= c= b= s= r= t= vf= af= ss=",
        _converts,
        {"lame a.wav b.mp3": "read write read:a.wav write:b.mp3"},
        style=Style.DASHED,
    ),
)
