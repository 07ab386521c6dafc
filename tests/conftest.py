"""What every test stands on."""

from __future__ import annotations

from hypothesis import settings

# A machine under load is slow, not wrong: no example is judged by how long it took.
settings.register_profile("latchd", deadline=None)
settings.load_profile("latchd")
