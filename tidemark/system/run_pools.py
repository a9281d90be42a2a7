"""The number of parallel runs: the pools of TIDEMARK_POOLS."""

from __future__ import annotations

from typing import Final

from tidemark.system.errors import PoolSettingError

DEFAULT: Final = "default"
_DEFAULT_SLOTS: Final = 2


def pool_capacities(text: str) -> dict[str, int]:
    """The slots of each pool of a text such as `default=2, heavy=1`. Raises PoolSettingError."""
    capacities: dict[str, int] = {DEFAULT: _DEFAULT_SLOTS}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, count = (word.strip() for word in part.partition("="))
        if not (name and equals and count.isdecimal() and int(count) > 0):
            raise PoolSettingError(
                "these are not pools",
                expected="names with capacities: default=2, heavy=1",
                found=part,
                where="TIDEMARK_POOLS",
            )
        capacities[name] = int(count)
    return capacities


def valid_pools(text: str) -> str:
    """The text, if it is valid. Raises PoolSettingError."""
    pool_capacities(text)
    return text
