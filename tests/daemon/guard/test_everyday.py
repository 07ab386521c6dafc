"""What developers and their agents run all day is not refused, and asked about only with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from latch_contracts.verdict import Action
from latchd.guard.walk import judge
from latchd.offline import subject_of
from latchd.policy import Policy

# One command per line; a blank line starts the next one that has several lines.
BUILDS: Final = r"""
make
make -j8 all
make test VERBOSE=1
make install PREFIX=/tmp/stage
make -C build install DESTDIR="$PWD/out"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release
cmake --build build --parallel 4
cmake -E make_directory out
cmake -E copy a.txt build/a.txt
ninja -C build
cargo build --release
cargo test -- --nocapture
cargo clippy --all-targets -- -D warnings
go build ./...
go test ./... -run TestFoo -count=1
go vet ./... && gofmt -l .
npm run build
npm test -- --watch=false
npm run lint --if-present
npx tsc --noEmit
npx eslint . --fix
pnpm -r build
yarn workspace web test
bun test
python -m pytest -q tests/unit -k 'parse and not slow'
pytest --cov=src --cov-report=term-missing -x
.venv/bin/python -m pytest tests
ruff check . --fix && ruff format .
mypy --strict src
tox -e py311
mvn -q -DskipTests package
./gradlew test --tests '*ParserTest'
dotnet test --no-build
bundle exec rspec spec/models
php artisan test
mix test test/foo_test.exs:12
swift build
gcc -Wall -o prog main.c && ./prog
g++ -std=c++20 -O2 a.cc -o /tmp/a && /tmp/a
docker build -t app:dev .
docker build -f docker/Dockerfile --build-arg VERSION=1.2 -t app .
terraform fmt -recursive && terraform validate
terraform plan -out=tf.plan
shellcheck scripts/*.sh
pre-commit run --all-files
just build
bazel test //...
"""
GIT: Final = r"""
git status -sb
git diff --stat HEAD~1
git diff main...HEAD -- src/
git log --oneline --graph -20
git log -p -S'needle' -- src
git show HEAD:README.md
git show --stat HEAD
git add -A && git commit -m "fix: rm -rf in clean target"
git add src/app.py tests/test_app.py
git commit --amend --no-edit
git commit -am 'wip'
git checkout -b feature/login
git checkout feature/login
git checkout main && git pull --rebase
git checkout src/app
git checkout --unified 3 main
git checkout origin/main
git checkout -t origin/feature
git switch -c fix/typo
git switch -
git branch -d merged
git branch --show-current
git branch -M main
git -c core.pager=cat log -3
git -c user.name=x -c user.email=x@example.com commit -m y
git config --global core.editor 'code --wait'
git fetch origin main:main
git fetch origin pull/12/head:pr-12
git stash show -p stash@{0}
git diff --name-only HEAD | xargs cat
git fetch --all --prune
git pull --ff-only origin main
git push -u origin HEAD
git push origin feature/login
git push --force-with-lease origin feature/login
git push --tags
git merge --no-ff feature/login
git rebase origin/main
git rebase --continue
GIT_EDITOR=true git rebase --continue
git cherry-pick abc1234
git stash push -m wip
git stash pop
git stash list
git reset HEAD~1
git reset --soft HEAD~1
git reset HEAD src/app.py
git restore --staged .
git rm --cached secrets.txt
git tag -a v1.2.0 -m 'release 1.2.0'
git worktree add ../wt feature
git worktree remove ../wt
git bisect start HEAD v1.0
git blame -L 10,20 src/app.py
git remote -v
git remote add upstream https://github.com/o/r.git
git config user.email dev@example.com
git config --get remote.origin.url
git submodule update --init --recursive
git clone --depth 1 https://github.com/o/r.git /tmp/r
git ls-files | xargs wc -l
git diff --name-only | xargs -r eslint
git grep -n 'TODO' -- '*.py'
git rev-parse --abbrev-ref HEAD
git clean -n
git clean -ndx
git apply --check fix.patch
git format-patch -1 HEAD --stdout > /tmp/fix.patch
git archive --format=tar HEAD | tar -x -C /tmp/export
git -C ../lib status
git reflog -5
git shortlog -sn
git describe --tags --always
GIT_PAGER=cat git log -3
git commit -F - <<'EOF'⏎fix: do not `rm -rf /`⏎⏎see $HOME/.env⏎EOF
git commit -m "$(cat <<'EOF'⏎feat: drop table users safely⏎⏎- run `git reset --hard` never⏎EOF⏎)"
gh pr create --title 'x' --body "$(cat <<'EOF'⏎## Summary⏎- `curl x | bash` is gone⏎EOF⏎)"
gh pr view 12 --comments
gh pr checks
gh pr diff 12
gh run list --limit 5
gh run view 123 --log-failed
gh issue list --label bug
gh issue create --title x --body 'y'
gh api repos/o/r/pulls/1/comments
gh auth status
"""
CONTAINERS: Final = r"""
docker ps -a
docker images
docker logs -f --tail 100 web
docker compose up -d --build
docker compose down
docker compose logs -f api
docker compose exec api bash -c 'python manage.py migrate'
docker compose exec -T db psql -U app -c 'select count(*) from users'
docker compose run --rm web npm test
docker compose ps --format json
docker compose restart worker
docker exec -it web sh
docker exec web ls -la /app
docker run --rm -it -v "$PWD":/app -w /app node:20 npm ci
docker run -d --name redis -p 6379:6379 redis:7
docker run --rm hello-world
docker inspect -f '{{.NetworkSettings.IPAddress}}' web
docker stop web && docker rm web
docker pull postgres:16
docker tag app:dev registry.example.com/app:dev
docker cp web:/app/report.xml ./report.xml
docker network ls
docker image prune -f
docker run --rm --env-file .env app
docker compose --env-file .env.dev up -d
docker volume ls
docker stats --no-stream
docker system df
kubectl get pods -n dev -o wide
kubectl describe deploy/api
kubectl logs -f deploy/api --since=10m
kubectl get events --sort-by=.lastTimestamp
kubectl apply --dry-run=client -f k8s/
kubectl apply -f k8s/deploy.yaml
kubectl rollout status deploy/api
kubectl port-forward svc/api 8080:80
kubectl config current-context
kubectl config get-contexts
kubectl top pods
kubectl exec -it deploy/api -- ls /app
kubectl get configmap app -o yaml
kubectl get secrets
kubectl get secret db -o name
kubectl get secret db -o jsonpath='{.metadata.labels}'
docker run --rm -v "$(pwd)":/src -w /src golang:1.22 go test ./...
docker run --rm -v /etc/localtime:/etc/localtime:ro app
docker exec db pg_dump -U a app > dump.sql
ssh -L 5432:localhost:5432 bastion
helm template chart/ -f values.yaml
helm lint chart
minikube status
"""
PACKAGES: Final = r"""
pip install -r requirements.txt
pip install -e '.[dev]'
python3 -m venv .venv && source .venv/bin/activate && pip install -U pip
. .venv/bin/activate && pytest
uv sync
uv run pytest
uv pip install ruff
poetry install --no-root
pipx run black .
npm ci
npm install --save-dev typescript
npm ls --depth=0
npm outdated
npm config get registry
npm config list
npm view react version
npm whoami
npm config set registry https://registry.npmmirror.com
npm config set fund false
npx create-vite@latest app --template react
pnpm add -D vitest
yarn add lodash
cargo add serde --features derive
cargo install ripgrep
go mod tidy
go get example.com/x@latest
gem install bundler
bundle install
brew install jq
sudo apt-get update && sudo apt-get install -y jq
apt list --installed
apt-cache policy git
composer install
rustup component add clippy
nvm use 20
conda activate dev
"""
NETWORK: Final = r"""
curl -s http://localhost:3000/health
curl -fsSL https://api.github.com/repos/o/r/releases/latest | jq -r .tag_name
curl -I https://example.com
curl -X POST http://localhost:8080/api/items -H 'Content-Type: application/json' -d '{"a":1}'
curl -X DELETE http://127.0.0.1:8080/api/items/1
curl -o /tmp/a.tgz https://example.com/a.tgz && tar xzf /tmp/a.tgz -C /tmp/x
curl -H "Authorization: Bearer $CI_TOKEN" https://git.example.test/api/v4/projects
curl --retry 5 --retry-connrefused -sf http://localhost:8000/ready
curl -d a=1 https://api.example.com/login
curl -X POST https://api.example.com/v1/items -H 'Content-Type: application/json' -d '{"a":1}'
curl -X PATCH https://api.example.com/v1/items/1 --json '{"a":1}'
http POST api.example.com/items name=x
scp host:/var/log/app.log /tmp/
wget -q https://example.com/data.csv -O data/data.csv
http GET localhost:8000/users
ping -c 1 example.com
dig +short example.com
nc -z localhost 5432
ssh-keygen -lf ~/.ssh/id_ed25519.pub
ssh -T git@github.com
ssh dev@staging.example.com 'uptime'
openssl x509 -in cert.pem -noout -dates
openssl rand -hex 16
lsof -i :3000
ss -ltnp
"""
READING: Final = r"""
ls -la
ls -la ~/.ssh
cat README.md
cat package.json | jq '.scripts'
head -50 src/app.py
tail -n 100 logs/app.log
tail -f logs/dev.log
sed -n '1,80p' src/app.py
grep -rn 'process.env' src
grep -rn "API_KEY" src --include=*.py
rg -n 'password' src -g '*.ts'
rg --files | head
find . -name '*.py' -not -path './.venv/*' | xargs grep -l TODO
find src -type f -name '*.ts' -exec wc -l {} +
find . -type d -name node_modules -prune -o -name '*.js' -print
find / -name libfoo.so 2>/dev/null
awk -F, '{s+=$3} END {print s}' data.csv
awk '/^## /{print $2}' CHANGELOG.md
sort data.txt | uniq -c | sort -rn | head -20
cut -d: -f1 /etc/passwd
cat /etc/os-release
jq '.dependencies | keys' package.json
wc -l src/**/*.py
diff -u a.py b.py
tree -L 2
du -sh * | sort -h
df -h
stat package.json
file bin/app
which python3
git log --oneline -- .env
git diff --stat HEAD -- .env
printenv HOME
printenv PATH
declare -p PATH
command -v node
type -a git
env FOO=1 python app.py
echo "$PATH"
echo $HOME
printf '%s\n' "$USER"
date +%s
uname -a
whoami
id
ps aux | grep node
pgrep -fl python
cat .env.example
diff .env.example .env.sample
grep -c '' .gitignore
less -N src/app.py
xxd a.bin | head
column -t -s, data.csv
man 1 rsync
history | tail -20
test -f .env && echo yes
grep -q API_KEY .env && echo yes
python3 -c "import requests; print(requests.get('http://localhost:8000').text)"
python3 -c "import socket; s=socket.socket(); s.connect(('localhost',5432)); print('ok')"
diff <(git show HEAD:a.py) a.py
comm -12 <(sort a) <(sort b)
[ -n "$GITHUB_TOKEN" ] && echo set
python -c 'import sys; print(sys.version)'
python3 -c "import json;print(json.load(open('package.json'))['version'])"
node -e 'console.log(process.version)'
node -p "require('./package.json').version"
ruby -e 'puts RUBY_VERSION'
perl -ne 'print if /foo/' a.txt
sqlite3 dev.db '.tables'
psql -h localhost -U dev -d app -c 'SELECT * FROM users LIMIT 5'
redis-cli ping
redis-cli get session:1
"""
WRITING: Final = r"""
mkdir -p src/lib && touch src/lib/__init__.py
echo 'node_modules/' >> .gitignore
echo x > /tmp/out.txt
cat > src/new.py <<'EOF'⏎import os⏎os.system("rm -rf /")⏎EOF
cat <<EOF > config.yml⏎name: $USER⏎EOF
tee logs/build.log < /dev/null
npm test 2>&1 | tee test.log
make 2>&1 | tee /tmp/make.log | tail -20
cp src/a.py src/b.py
cp -r templates/ out/
cp .env.example .env
mv old.py new.py
mv src/a.ts src/b.ts
ln -s ../shared shared
sed -i 's/foo/bar/g' src/app.py
sed -i.bak -e '/^#/d' config.ini
perl -pi -e 's/a/b/' src/*.c
find src -name '*.py' -exec sed -i 's/a/b/' {} +
grep -rl oldName src | xargs sed -i 's/oldName/newName/g'
chmod +x scripts/run.sh
chmod 644 README.md
rm -f build.log
rm -rf node_modules dist
rm -rf build/ .pytest_cache
rm -rf ./coverage
rm -r docs/old
rm *.pyc
rm src/unused.py
rm -rf /tmp/work
find . -name '__pycache__' -type d -exec rm -rf {} +
find . -name '*.pyc' -delete
rmdir empty
rm -rf .git/index.lock
rm -rf "$(pwd)/build"
rm -rf $(pwd)/dist
rm -rf $(find . -name '.DS_Store')
cmake -E rm -rf build
cp a.tgz /tmp/
mv a.tgz /tmp
tar xzf a.tgz -C /tmp
unzip -q a.zip -d /tmp
tar czf /tmp/dist.tgz dist
tar xzf vendor.tgz -C vendor
unzip -o a.zip -d vendor
zip -r out.zip dist
rsync -a src/ /tmp/mirror/
rsync -a --delete dist/ public/
truncate -s 0 logs/app.log
dd if=/dev/zero of=disk.img bs=1M count=10
touch .keep
patch -p1 < fix.patch
iconv -f latin1 -t utf8 a.txt > b.txt
base64 logo.png > logo.b64
jq '.version="1.2"' package.json > tmp.json && mv tmp.json package.json
python - <<'EOF'⏎from pathlib import Path⏎p = Path("a.py")⏎p.write_text(p.read_text().upper())⏎EOF
python3 <<'EOF'⏎import re⏎print(re.sub("a", "b", open("a.txt").read()))⏎EOF
node <<'EOF'⏎const fs = require('fs');⏎fs.writeFileSync('out.json', JSON.stringify({a: 1}));⏎EOF
D=$(mktemp -d); cp -r src "$D"; rm -rf "$D"
tmp=$(mktemp) && jq . a.json > "$tmp" && mv "$tmp" a.json
vim +q src/app.py
code .
ssh-keygen -t ed25519 -f /tmp/test_key_dir/k -N ''
"""
SCRIPTS: Final = r"""
set -euo pipefail; make test
set -x
export FOO=bar && npm run dev
export PATH="$HOME/.local/bin:$PATH"
export NODE_ENV=test; npm test
FOO=1 BAR=2 make
cd src && ls
cd "$(git rev-parse --show-toplevel)" && make
for f in src/*.py; do wc -l "$f"; done
for i in 1 2 3; do curl -sf localhost:8080/health && break; sleep 1; done
while read -r line; do echo "$line"; done < list.txt
while ! nc -z localhost 5432; do sleep 1; done
if [ -f package.json ]; then npm ci; else echo none; fi
case "$1" in start) make up;; stop) make down;; esac
until curl -s localhost:3000 >/dev/null; do sleep 1; done
[[ -d node_modules ]] || npm ci
f() { echo "$1"; }; f a
eval "$(ssh-agent -s)"
eval "$(direnv hook bash)"
source <(kubectl completion bash)
source ~/.nvm/nvm.sh && nvm use
. ./scripts/env.sh
npm run dev > /tmp/dev.log 2>&1 &
nohup npm start > server.log 2>&1 & echo $! > server.pid
kill $PID
kill %1
kill -9 12345
kill "$(cat server.pid)"
pkill -f 'node server.js'
kill $(lsof -t -i:3000)
lsof -ti:3000 | xargs kill -9
timeout 30 npm test
time make -j
nice -n 10 make
watch -n 1 'ls -l out'
xargs -n1 echo < list.txt
seq 1 5 | xargs -I{} echo item {}
ls *.log | xargs -n1 basename
cat list.txt | xargs -I{} cp {} /tmp/out/
sleep 2 && tail -5 /tmp/dev.log
trap 'rm -f /tmp/lock.$$' EXIT; touch /tmp/lock.$$
W=$(mktemp -d) && trap 'rm -rf "$W"' EXIT && cp -r src "$W"
W=$(mktemp -d); clean() { rm -rf "$W"; }; trap clean EXIT; make -C "$W"
"$(command -v python3)" -m pytest -q
sudo $(which docker) ps
env | cut -d= -f1 | sort
env | grep -c NODE
pm2 logs --nostream
cat <<'EOF' | python3⏎print(1)⏎EOF
openssl req -x509 -newkey rsa:2048 -nodes -keyout dev.key -out dev.crt -subj /CN=localhost
git -c core.hooksPath=/dev/null commit -m x
git -c protocol.file.allow=always submodule update --init
kubectl describe secret web
bash scripts/build.sh --fast
bash -c 'echo hi; ls'
bash -n scripts/build.sh
sh -x scripts/build.sh
./scripts/deploy.sh --dry-run
python manage.py migrate
python manage.py runserver 0.0.0.0:8000
rails db:migrate
alembic upgrade head
npx prisma migrate dev --name init
npx prisma generate
flask run
uvicorn app:app --reload
python -m http.server 8000
jupyter nbconvert --to script a.ipynb
ffmpeg -i a.mp4 -vf scale=640:-1 b.mp4
convert a.png -resize 50% b.png
crontab -l
systemctl status nginx
systemctl --user list-units
journalctl -u nginx -n 50 --no-pager
sudo systemctl restart nginx
tmux new -d -s dev 'npm run dev'
screen -ls
ssh-add -l
gpg --verify a.sig a
aws ecr get-login-password | docker login --username AWS --password-stdin 1.dkr.ecr.us-east-1.amazonaws.com
gh auth token | docker login ghcr.io -u me --password-stdin
doppler run -- npm start
op run -- npm test
dotenv -e .env -- npm test
aws s3 ls s3://bucket/
aws sts get-caller-identity
aws logs tail /aws/lambda/x --since 1h
gcloud config list
gcloud run services list
az account show
vault status
vault secrets list
vault kv list secret/
op vault list
doppler configure
heroku logs --tail
heroku config:set A=1
stripe listen --forward-to localhost:3000
terraform state list
terraform output
pulumi preview
ansible-playbook site.yml --check
ansible-vault encrypt group_vars/x.yml
latchctl status
latchctl explain 'rm -rf /'
"""

# What is asked about, and why a person should look.
ASKED: Final = {
    "cp ~/notes.txt ../other/": "writes outside the project",
    "echo x >> ~/notes.md": "writes outside the project",
    "make test > ../build.log": "writes outside the project",
    "git worktree add ../wt feature": "writes beside the project",
    "ssh-keygen -R git.host.example": "writes outside the project",
    "git clone https://github.com/o/r.git ../r": "writes outside the project",
    "make install PREFIX=$HOME/x && cp a ~/x/": "writes outside the project",
    '"$EDITOR" a.py': "the program is known only when it runs",
    "cat script.sh | bash": "the program comes from a file that nobody named as a script",
    "curl -T dist.tgz https://files.example.com/dist.tgz": "sends a file to another machine",
    "curl -d @body.json https://api.example.com/v1/items": "sends a file to another machine",
    "scp dist.tgz deploy@host.example:/srv/": "sends a file to another machine",
    "rsync -a dist/ deploy@host.example:/srv/app/": "sends files to another machine",
    "docker run -v /:/host alpine ls /host": "the container sees the whole machine",
    "docker run --privileged docker:dind": "the container has the rights of the machine",
    "docker run -v ~/.m2:/root/.m2 maven mvn package": "the container writes outside the project",
}


def _lines(text: str) -> list[str]:
    return [line.replace("⏎", "\n") for line in text.strip().splitlines()]


EVERYDAY: Final = [
    line
    for area in (BUILDS, GIT, CONTAINERS, PACKAGES, NETWORK, READING, WRITING, SCRIPTS)
    for line in _lines(area)
    if line not in ASKED
]


@pytest.mark.parametrize("command", EVERYDAY)
def test_everyday_work_is_allowed(command: str) -> None:
    verdict = judge(subject_of({"command": command}, Policy()))

    assert (verdict.action, verdict.rule) == (Action.ALLOW, None)


def test_the_neighbours_of_what_is_refused_are_allowed() -> None:
    lines = (Path(__file__).parent / "everyday.txt").read_text("utf-8").splitlines()
    commands = [line for line in lines if line and not line.startswith("#")]
    judged = {command: judge(subject_of({"command": command}, Policy())) for command in commands}

    assert len(commands) > 480
    assert {
        command: verdict.rule for command, verdict in judged.items() if verdict.action is not Action.ALLOW
    } == {}


@pytest.mark.parametrize("command", ASKED)
def test_what_a_person_should_see_is_asked_about_and_not_refused(command: str) -> None:
    assert judge(subject_of({"command": command}, Policy())).action is Action.ASK
