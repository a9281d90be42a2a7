"""The last look of each probe, and requests to look at once, by the text of the slice.

The center notes looks, and `status` and `explain` show them. `tidemark probe --now` notes requests.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

_LOOKS: Final = "probe look"
_REQUESTS: Final = "probe request"


class ProbeLook(NamedTuple):
    """The result of a probe `at` an aware instant, and the time of the next look."""

    at: datetime
    next: datetime
    why: str

    def to_json(self) -> str:
        """The content of its note."""
        return json_text({"at": self.at.isoformat(), "next": self.next.isoformat(), "why": self.why})

    @classmethod
    def of_json(cls, text: str) -> Self:
        """The inverse of `to_json`."""
        told = json.loads(text)
        return cls(datetime.fromisoformat(told["at"]), datetime.fromisoformat(told["next"]), told["why"])


def probe_looks(database: Database) -> Notes:
    """The notes of looks. All raise StateStoreDownError."""
    return Notes(database, _LOOKS)


def probe_requests(database: Database) -> Notes:
    """The notes of requests; the content is the person's name. All raise StateStoreDownError."""
    return Notes(database, _REQUESTS)
