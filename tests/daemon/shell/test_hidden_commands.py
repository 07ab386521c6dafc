"""A command inside another program's words, code or input is listed; where it can't be, the facts say so."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Status
from latchd.shell.facts import analyze

# Each line runs `mk`, now or later, here or elsewhere.
LINES = r"""
at now + 1 minute <<< 'mk a'
echo 'mk a' | at now
echo 'mk a' | batch
screen -dmS s mk a
screen -S s -X stuff 'mk a^M'
tmux send-keys -t x 'mk a' Enter
tmux new -d 'mk a'
tmux new-session -d \; send-keys 'mk a' Enter
watch -n1 mk a
watch -x mk a
watch 'true; mk a'
script -qc 'mk a' /dev/null
script -q /dev/null mk a
script -q -c "mk a"
expect -c 'spawn mk a; interact'
expect -c 'exec mk a'
make --eval='x:;mk a' x
make -f - <<< $'all:\n\tmk a'
printf 'all:\n\tmk a\n' | make -f -
make X='$(shell mk a)'
npm exec -- mk a
npm exec -c 'mk a'
npx -c 'mk a'
npx --call='mk a'
npx -y mk@1 a
pnpm dlx mk a
yarn dlx mk a
bunx mk a
npm explore p -- mk a
docker run -v $X:/h img mk a
docker run --rm -it --name c -v /:/h -w /h --entrypoint mk img a
docker run --rm img sh -c 'mk a'
docker exec -u root c mk a
docker compose run --rm web mk a
docker-compose -f f.yml exec web mk a
podman run img mk a
kubectl exec -it p -c c -- mk a
kubectl run x --image=i --restart=Never -- mk a
kubectl debug n -it --image=i -- mk a
oc rsh p mk a
oc exec p -- mk a
lxc exec c -- mk a
incus exec c -- mk a
lxc-attach -n c -- mk a
machinectl shell x /usr/bin/mk a
systemd-nspawn -D /r mk a
vagrant ssh -c 'mk a'
vagrant ssh -- mk a
ssh -t -p 22 -i k -o StrictHostKeyChecking=no u@h 'mk a'
ssh h -p 22 mk a
ssh -o ProxyCommand='mk a' h
ssh -oLocalCommand='mk a' -oPermitLocalCommand=yes h
ssh u@h <<< 'mk a'
ssh u@h bash -s <<< 'mk a'
ssh u@h "sudo sh -c 'mk a'"
mosh u@h -- mk a
parallel mk {} ::: a b
parallel -j4 'mk {}' ::: a
echo a | parallel mk {}
parallel --pipe mk < f
parallel ::: 'mk a' 'true'
sem -j1 mk a
find . -exec sh -c 'mk "$@"' _ {} +
find . -name x -ok mk {} \;
find . -type f -print0 | xargs -0 -n1 -P4 sh -c 'mk "$1"' _
xargs -a list mk
git -c alias.z='!mk a' z
git -c core.pager='mk a' log
git -c core.sshCommand='mk a' fetch
git -c core.fsmonitor='mk a' status
git -c diff.external='mk a' diff
git -c protocol.ext.allow=always clone 'ext::mk a'
git clone -c core.sshCommand='mk a' h:r
git config alias.z '!mk a'
git config --global core.pager 'mk a'
GIT_SSH_COMMAND='mk a' git fetch
GIT_PAGER='mk a' git log
GIT_EDITOR='mk a' git commit
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='mk a' git log
GIT_EXTERNAL_DIFF='mk a' git diff
EDITOR='mk a' crontab -e
PAGER='mk a' man ls
MANPAGER='mk a' man ls
LESSOPEN='|mk a' less f
env GIT_SSH_COMMAND='mk a' git fetch
env PAGER='mk a' man ls
export GIT_PAGER='mk a'; git log
git bisect run mk a
git rebase -x 'mk a' main
git rebase --exec='mk a' main
git submodule foreach 'mk a'
git filter-branch --tree-filter 'mk a' HEAD
git difftool -y -x 'mk a'
git grep -O'mk a' x
git fetch --upload-pack='mk a' h
vim -c ':!mk a' -c q f
vim -es -c '!mk a' -c q
vim +'!mk a' +q
vi -c 'call system("mk a")'
nvim --headless -c 'silent !mk a' -c q
vim -c '%!mk a'
vim -c 'term mk a'
ex -s f <<< '!mk a'
ed f <<< '!mk a'
emacs --batch --eval '(shell-command "mk a")'
less '+!mk a' f
tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec='mk a'
tar xf a --to-command='mk a'
tar -I 'mk a' -xf x
tar --use-compress-program='mk a' -cf a b
rsync -e 'mk a' x y:
rsync --rsh='mk a' x y:
rsync --rsync-path='mk a' x y:
sqlite3 a.db '.shell mk a'
sqlite3 a.db <<< '.system mk a'
sqlite3 a.db '.output |mk a'
psql -c '\! mk a'
psql <<< '\! mk a'
psql -c "copy t to program 'mk a'"
mysql -e 'system mk a'
mysql -e '\! mk a'
mysql <<< 'system mk a'
awk 'BEGIN{system("mk a")}'
awk '{ "mk a" | getline x }' f
awk '{ print $0 | "mk a" }' f
awk '{ c="mk "$1; system(c) }' f
awk -f - <<< 'BEGIN{system("mk a")}'
gawk -e 'BEGIN{system("mk a")}'
gawk -i inplace '{system("mk a")}' f
sed '1e mk a' f
sed -n '1!G;$e mk a' f
sed 's/x/mk a/e' f
perl -e 'system("mk a")'
perl -e 'exec "mk a"'
perl -e '`mk a`'
perl -e 'qx{mk a}'
perl -e 'open(F,"mk a|")'
perl -le 'system "mk", "a"'
perl -MPOSIX -we 'system("mk a")'
ruby -e 'system("mk a")'
ruby -e '`mk a`'
ruby -e '%x(mk a)'
ruby -e 'exec "mk a"'
ruby -e 'IO.popen("mk a")'
ruby -e 'require "open3"; Open3.capture2("mk","a")'
node -e 'require("child_process").execSync("mk a")'
node -e 'require("child_process").spawnSync("mk",["a"])'
node -e 'const {execSync}=require("child_process"); execSync("mk a")'
node -p 'require("child_process").execSync("mk a").toString()'
deno eval 'new Deno.Command("mk",{args:["a"]}).outputSync()'
bun -e 'Bun.spawnSync(["mk","a"])'
php -r 'system("mk a");'
php -r 'exec("mk a");'
php -r 'shell_exec("mk a");'
php -r '`mk a`;'
python -c 'import os; os.system("mk a")'
python3 -c 'import subprocess; subprocess.run(["mk","a"])'
python3 -c 'import subprocess as s; s.check_call("mk a", shell=True)'
python3 -c 'from subprocess import run; run(["mk","a"])'
python3 -c 'from os import system; system("mk a")'
python3 -c 'import os; os.execvp("mk",["mk","a"])'
python3 -c 'import os; os.popen("mk a").read()'
python3 -c 'import pty; pty.spawn(["mk","a"])'
python3 -c '__import__("os").system("mk a")'
python3 <<< 'import os; os.system("mk a")'
lua -e 'os.execute("mk a")'
osascript -e 'do shell script "mk a"'
Rscript -e 'system("mk a")'
julia -e 'run(`mk a`)'
tclsh <<< 'exec mk a'
echo bWsgYQ== | base64 -d | sh
base64 -d <<< bWsgYQ== | bash
echo 6d6b2061 | xxd -r -p | sh
printf '\155\153 a' | sh
printf '%b' '\x6d\x6b a' | bash
. /dev/stdin <<< 'mk a'
echo 'zx n' | tr 'zxn' 'mka' | sh
echo 'a km' | rev | sh
cat <<< 'mk a' | bash -s
tee >(mk a) < f
gdb -batch -ex 'shell mk a'
gdb -ex '!mk a'
lldb -o 'platform shell mk a'
sftp h <<< '!mk a'
ftp <<< '!mk a'
dc -e '!mk a'
ip netns exec n mk a
cpulimit -l 5 -- mk a
cgexec -g cpu:x mk a
capsh -- -c 'mk a'
runcon -t x mk a
sg g -c 'mk a'
start-stop-daemon --start --exec /bin/mk -- a
chpst -u x mk a
envdir d mk a
s6-setuidgid u mk a
logsave f mk a
aa-exec -p x -- mk a
ssh-agent mk a
ssh-agent bash -c 'mk a'
sshpass -p x ssh h mk a
faketime '1 day' mk a
strace -o f -f mk a
ltrace mk a
perf stat -e x mk a
valgrind mk a
gdb --args mk a
time -p mk a
\time mk a
nohup mk a &
setsid -f mk a
systemd-run --user --on-active=5 mk a
systemd-run --pty --wait bash -c 'mk a'
crontab - <<< '* * * * * mk a'
echo '* * * * * mk a' | crontab -
flock /l -c 'mk a'
flock /l mk a
entr -r mk a
ls | entr mk a
fswatch . | xargs -n1 mk
nodemon --exec 'mk a'
nodemon -x mk a
watchexec -- mk a
watchexec -e py mk a
concurrently 'mk a' 'true'
cargo watch -x test -s 'mk a'
just --command mk a
poetry run mk a
uv run --with x mk a
uv run -- mk a
uvx mk a
pipx run mk a
conda run -n e mk a
micromamba run -n e mk a
nix-shell -p x --run 'mk a'
nix run nixpkgs#mk -- a
nix develop -c mk a
nix shell nixpkgs#x --command mk a
devbox run -- mk a
direnv exec . mk a
mise exec -- mk a
mise x node@20 -- mk a
asdf exec mk a
rbenv exec mk a
bundle exec mk a
doppler run --command 'mk a'
op run -- mk a
aws-vault exec p -- mk a
chamber exec s -- mk a
sops exec-env f 'mk a'
sops exec-file f 'mk a {}'
envchain x mk a
dotenv -f .env run mk a
dotenvx run -- mk a
env-cmd mk a
cross-env A=1 mk a
cross-env-shell 'mk a'
dumb-init mk a
tini -- mk a
gosu u mk a
su - u -c 'mk a'
su u -s /bin/sh -c 'mk a'
runuser -u u -- mk a
sudo -u u -i mk a
sudo -s mk a
sudo -- sh -c 'mk a'
sudo bash -lc 'mk a'
sudo -E env A=1 mk a
doas mk a
pkexec mk a
chroot /r mk a
unshare -r mk a
nsenter -t 1 -a mk a
firejail --noprofile mk a
bwrap --ro-bind / / mk a
bwrap --bind / / -- mk a
proot -r /x mk a
busybox sh -c 'mk a'
busybox mk a
toybox mk a
stdbuf -o0 mk a
unbuffer mk a
caffeinate -i mk a
arch -x86_64 mk a
arch -arm64 mk a
xcrun mk a
rlwrap mk a
socat - EXEC:'mk a'
socat TCP-LISTEN:1,fork SYSTEM:'mk a'
nc -l -p 1 -e mk
nc -c 'mk a' h 1
ncat --sh-exec 'mk a' h 1
ncat -l 1 -e /bin/mk
tcpdump -i x -G 1 -z mk -w f
split --filter='mk a' f
sort --compress-program=mk f
zip x.zip f -T -TT 'mk a'
man -P 'mk a' ls
mapfile -C 'mk a' -c 1 x < f
trap 'mk a' EXIT
trap "mk a" INT TERM
PROMPT_COMMAND='mk a'
coproc mk a
coproc N { mk a; }
if mk a; then :; fi
x=`mk a`
echo "${y:-$(mk a)}"
echo $((`mk a`))
[[ $(mk a) ]]
select i in a; do mk a; done
exec mk a
pwsh -c 'mk a'
powershell -Command "mk a"
cmd /c mk a
wsl mk a
wsl -e mk a
apt-get install -o DPkg::Pre-Invoke::='mk a' x
ansible all -m shell -a 'mk a'
ansible localhost -m command -a 'mk a'
salt '*' cmd.run 'mk a'
pssh -h f mk a
pdsh -w h mk a
clush -w h mk a
gcloud compute ssh vm --command='mk a'
aws ssm send-command --document-name AWS-RunShellScript --parameters 'commands=["mk a"]'
az vm run-command invoke --scripts 'mk a'
heroku run 'mk a'
fly ssh console -C 'mk a'
flyctl ssh console --command 'mk a'
adb shell mk a
adb shell 'mk a'
multipass exec v -- mk a
limactl shell d mk a
colima ssh -- mk a
distrobox enter b -- mk a
toolbox run mk a
flatpak-spawn --host mk a
flatpak run --command=mk x a
ddev exec mk a
bash -c "$(echo bWsgYQ== | base64 -d)"
sudo bash -c "$(echo mk a)"
eval "$(printf 'mk a')"
eval $(echo mk a)
eval "`echo mk a`"
$(echo mk) a
`echo mk` a
$(echo mk a)
x=$(echo mk); $x a
echo "$(echo mk a)" | sh
sh <<< "$(echo mk a)"
bash <(echo mk a)
sudo bash <(echo mk a)
source <(echo mk a)
. <(printf 'mk a\n')
bash < <(echo mk a)
cat <(echo mk a) | sh
echo mk a | tee >(bash)
echo mk a > >(sh)
{mk,a}
{{mk,a},b}
if {mk,a}; then :; fi
{ {mk,a}; }
{"mk",'a'}
x=1 {mk,$y}
sh -c '"$1" "$2"' _ mk a
sh -c '$0 "$@"' mk a
sh -c 'exec "$@"' _ mk a
sh -c 'eval "$0"' 'mk a'
bash -c 'shift; "$@"' _ x mk a
bash -c 'for i; do $i; done' _ mk
bash -s -- mk <<< '"$1" a'
echo '$1 a' | sh -s mk
set -- mk a; "$@"
set mk a; $@
f() { "$@"; }; f mk a
f() { local x=$1; shift; "$@"; }; f b mk a
f() { g "$@"; }; g() { "$2" "$1"; }; f a mk
f() { mk a; }; trap f EXIT
alias q='mk a'; q
alias q=mk; q a
hash -p /bin/mk q; q
bind -x '"\C-x": mk a'
sed -f - x <<< '1e mk a'
parallel --header : mk ::: a
parallel --joblog j --results r --workdir w --env E mk ::: a
x='$(mk a)'; echo "${x@P}"
python3 -c 'import os, sys; os.system(sys.argv[1])' 'mk a'
python3 -c 'import subprocess, sys; subprocess.run(sys.argv[1:])' mk a
python3 -c 'import subprocess; subprocess.run(["mk", x])'
node -e 'require("child_process").exec(process.argv[1])' 'mk a'
perl -e 'system($ARGV[0])' 'mk a'
perl -e 'system(@ARGV)' mk a
perl -ne 'system("mk", $_)' f
ruby -e 'system(*ARGV)' mk a
php -r 'system($argv[1]);' 'mk a'
lando ssh -c 'mk a'
"""

# Each line runs `mk` in a way that is not followed.
DOUBTED = r"""
eval "$(cat f)"
bash -c "$(echo "$x" | base64 -d)"
$(./which) a
bash <(cat f)
bash -s <(echo mk a)
echo() { printf "$x"; }; eval "$(echo mk a)"
IFS=:; $(echo mk:a)
enable -f ./q.so q; q
awk '{system($0)}' f
sed e f
perl -ne 'system($_)' f
python3 -c 'import os, sys; os.system(sys.argv[1])' "$x"
(crontab -l; echo '@reboot mk a') | crontab -
"""

# Each line only mentions it.
MENTIONS = r"""
echo mk a
git commit -m 'mk a'
git log --grep='mk a'
git config user.name 'mk a'
git -c user.name='mk a' log
git clone https://example.com/mk
awk '/mk a/ {print}' f
awk '{print "mk a"}' f
awk '{print "mk a" > "f"}' f
sed 's/mk a/b/' f
sed -e '/mk a/d' f
python3 -c 'print("mk a")'
node -e 'console.log("mk a")'
perl -ne 'print if /mk a/' f
psql -c "select 'mk a'"
mysql -e "insert into t values ('mk a')"
sqlite3 a.db "select 'mk a'"
vim '+/mk a' f
tmux set-option status-left 'mk a'
tmux new -d -s mk
screen -S mk -X quit
ssh mk
docker run --name mk img
docker build -t mk .
kubectl exec mk
make mk
make CC=mk
npm run mk
cargo run --bin mk
gcloud compute ssh mk
adb -s mk devices
crontab -l
at -l
man mk
tar czf mk.tgz a
rsync a mk:
find . -name 'mk a'
xargs -I mk echo x
parallel echo ::: mk a
env MK=mk
GREP_COLOR='mk a' grep x f
alias mk='a b'
trap - mk
echo 'mk a' | base64
echo bWsgYQ== | base64 -d
echo 'mk a' | tr a b
cat <<< 'mk a'
echo {mk,a}
echo "$(echo mk a)"
x=$(echo mk a)
set -- mk a
sh -c 'echo "$1"' _ mk
f() { echo "$@"; }; f mk a
cat <(echo mk a)
echo mk a | tee >(cat)
bash -s <(echo mk a)
bind -p mk
python3 -c 'import sys; print(sys.argv[1])' mk
python3 <<< 'print("mk a")'
psql <<< "select 'mk a';"
"""


def lines(block: str) -> list[str]:
    return block.strip().splitlines()


def runs(text: str) -> bool:
    return any(command.program == "mk" for command in analyze(text, cwd="/w", home="/h").commands)


@pytest.mark.parametrize("text", lines(LINES))
def test_a_command_inside_words_code_or_input_is_listed(text: str) -> None:
    assert runs(text)


@pytest.mark.parametrize("text", lines(DOUBTED))
def test_facts_without_a_command_that_is_not_followed_are_not_complete(text: str) -> None:
    assert analyze(text, cwd="/w", home="/h").status is not Status.COMPLETE


@pytest.mark.parametrize("text", lines(MENTIONS))
def test_a_mention_is_no_command(text: str) -> None:
    assert not runs(text)
