"""Every connector of this build, by the name that the hook line uses. A faulty contract can't be imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from latch_contracts.connectors import claudecode
from latch_contracts.connectors.connector import Connector
from latch_contracts.contract import faults


def table(connectors: Iterable[Connector]) -> Mapping[str, Connector]:
    """Connectors by name. Raises ImportError, naming every fault, when a contract fails its self-check."""
    found: dict[str, Connector] = {}
    wrong: list[str] = []
    for connector in connectors:
        name = connector.contract.connector
        wrong += [f"{name}: {fault}" for fault in faults(connector.contract)]
        if name in found:
            wrong.append(f"{name}: is listed twice")
        found[name] = connector
    if wrong:
        raise ImportError("faulty connector contracts: " + "; ".join(wrong))
    return MappingProxyType(found)


CONNECTORS: Final = table([claudecode.CONNECTOR])
