"""Hosts that say something by their name alone: collectors of requests, paste sites, metadata endpoints."""

from __future__ import annotations

from typing import Final

# They exist to show what was sent to them, to whoever made the address.
COLLECTORS: Final = tuple(
    "webhook.site pipedream.net requestbin.com requestbin.net requestcatcher.com hookbin.com beeceptor.com "
    "burpcollaborator.net oastify.com interact.sh interactsh.com oast.fun oast.me oast.pro oast.live "
    "oast.site oast.online dnslog.cn ceye.io canarytokens.com canarytokens.org xss.ht".split()
)
# Anybody may put something there; much of it is honest.
PASTE_SITES: Final = tuple(
    "pastebin.com paste.ee hastebin.com ghostbin.com rentry.co transfer.sh 0x0.st file.io termbin.com "
    "dpaste.com ngrok.io ngrok.app ngrok-free.app ngrok.dev loca.lt trycloudflare.com serveo.net".split()
)

# They hand out the credentials of the cloud machine that asks.
METADATA: Final = frozenset(
    "169.254.169.254 169.254.170.2 169.254.170.23 fd00:ec2::254 metadata.google.internal metadata.goog "
    "100.100.100.200 metadata.azure.internal 192.0.0.192 metadata.packet.net metadata".split()
)


def among(host: str, names: tuple[str, ...]) -> bool:
    """Whether a host is one of these or below one; case and a trailing dot do not matter."""
    wanted = host.lower().rstrip(".")
    return any(wanted == name or wanted.endswith(f".{name}") for name in names)
