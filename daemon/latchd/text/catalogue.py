"""Every text rule there is, in the order in which they speak for a range: the most telling name first."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from latchd.text.callbacks import CALLBACKS
from latchd.text.credentials import SECRETS
from latchd.text.hidden import HIDDEN
from latchd.text.instructions import INSTRUCTIONS
from latchd.text.issuers import ISSUED
from latchd.text.personal import PERSONAL
from latchd.text.rule import TextRule

TEXT_RULES: Final = (*ISSUED, *SECRETS, *INSTRUCTIONS, *HIDDEN, *CALLBACKS, *PERSONAL)

BY_ID: Final[Mapping[str, TextRule]] = MappingProxyType({rule.id: rule for rule in TEXT_RULES})
