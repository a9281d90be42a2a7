"""What is done to the tables, the lake and what is around them, by its name in a story."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.components.chain.injections.fail_over import FailOver
from tests.components.chain.injections.statements import (
    AddColumnWithDefault,
    CascadeRefused,
    DropThenAdd,
    PartitionEmptied,
    RenameSwap,
    Truncate,
)
from tests.components.chain.injections.surroundings import ClockJump, TableAdded, TableDropped, TopicRecreated
from tests.components.chain.injections.warehouse import Restored, TwoCaptures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.components.chain.injections.ground import ChainInjection

INJECTIONS: Final[Mapping[str, type[ChainInjection]]] = {
    "table truncated": Truncate,
    "column added with a default": AddColumnWithDefault,
    "column dropped and added": DropThenAdd,
    "table swapped by RENAME": RenameSwap,
    "table restored": Restored,
    "two captures": TwoCaptures,
    "heartbeats' clock jumps": ClockJump,
    "fail-over to a replica": FailOver,
    "topic made anew": TopicRecreated,
    "table added": TableAdded,
    "table dropped": TableDropped,
    "partition emptied": PartitionEmptied,
    "cascade refused": CascadeRefused,
}
