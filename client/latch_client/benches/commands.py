"""Commands to measure with where no corpus is given.

Nothing here is ever run.
"""

from __future__ import annotations

from typing import Final

OWN: Final = r"""
git status --short
git log --oneline -20 -- src | cat
git diff --stat HEAD~3
git add -A && git commit -m 'Fix the parser' && git push
git checkout -b topic/bench origin/main
git rebase -i HEAD~4 --autosquash
git stash list; git branch -vv
ls -la src && cat README.md
cat package.json | jq '.scripts'
grep -rn 'def main' --include='*.py' . | head -20
rg -n --hidden 'TODO' -g '!node_modules' | wc -l
find . -name '*.pyc' -not -path './.venv/*' -delete
find src -type f -name '*.ts' -exec grep -l 'import React' {} +
find . -type f -print0 | xargs -0 sha256sum | sort > /tmp/sums.txt
for f in *.txt; do wc -l "$f"; done
for i in {1..5}; do curl -s "http://localhost:8000/health?n=$i"; done
while read -r line; do echo "${line%%:*}"; done < /etc/passwd
if [ -f .env.example ]; then cp .env.example .env.local; else echo none; fi
case "$(uname)" in Linux) echo linux;; Darwin) echo mac;; esac
cd build && cmake .. -DCMAKE_BUILD_TYPE=Release && make -j4 2>&1 | tail -50
npm ci && npm run build --if-present && npm test -- --watch=false
pnpm --filter web exec vitest run
npx tsc --noEmit -p tsconfig.json
python3 -m venv .venv && . .venv/bin/activate && pip install -e '.[dev]'
python3 -c 'import json,sys; print(json.load(open("a.json"))["version"])'
node -e 'console.log(require("./package.json").version)'
pytest -q -x tests/unit -k 'not slow' 2>&1 | tail -30
cargo build --release && ./target/release/tool --help
go test ./... -run TestParse -count=1 -v
docker compose up -d db && docker compose logs --tail=50 db
docker run --rm -v "$PWD:/w" -w /w python:3.12 python -m pytest
kubectl get pods -n web -o wide | grep -v Running
ssh -p 2222 deploy@example.com 'cd /srv/app && git pull && systemctl --user restart app'
rsync -avz --delete dist/ deploy@example.com:/srv/www/
tar czf /tmp/backup.tgz --exclude=node_modules .
sed -i 's/version = "1.2.3"/version = "1.2.4"/' pyproject.toml
awk -F: '$3 >= 1000 { print $1 }' /etc/passwd
sort data.csv | uniq -c | sort -rn | head
ps aux | grep [n]ode | awk '{print $2}' | xargs -r kill
du -sh -- * | sort -h | tail
sqlite3 app.db 'select count(*) from users'
psql -h localhost -U app -c 'select now()'
curl -fsSL https://example.com/api | jq -r '.items[].name'
export NODE_ENV=test; npm run lint
mkdir -p build/{lib,bin,share} && touch build/lib/.keep
chmod +x scripts/*.sh && ./scripts/setup.sh --quick
echo "$(date +%F): done" >> notes.txt
(cd web && yarn install --frozen-lockfile) && echo ok
timeout 60 bash -c 'until nc -z localhost 5432; do sleep 1; done'
diff <(sort a.txt) <(sort b.txt)
""".strip().splitlines()
