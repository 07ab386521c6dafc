"""Who may connect."""

from __future__ import annotations

import pytest

from latchd import peers


@pytest.mark.parametrize("uid", [0, 1001, peers.OVERFLOW_UID])
def test_only_our_own_user_is_let_in(uid: int) -> None:
    assert peers.refusal(uid, 1000) != ""
    assert peers.refusal(1000, 1000) == ""
    assert peers.refusal(peers.OVERFLOW_UID, peers.OVERFLOW_UID) != ""
