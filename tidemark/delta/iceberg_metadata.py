"""The Iceberg metadata of a table, in the layout of Hadoop tables: `metadata/vN.metadata.json` and `version-hint.text`.

Version N is committed when its file exists, because only one writer can put it. The hint may be behind: readers that
need no hint look for the following versions, and the next writer corrects it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tidemark.storage.stored_files import stored_files
from tidemark.strict_json import json_text
from tidemark.system.crash_points import crash_point

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.system.table_location import TableLocation

ICEBERG_FOLDER: Final = "_iceberg"
"""The folder of the lake with Iceberg's metadata, a folder for each entity in it."""
FOLDER: Final = "metadata"
ROWS_VERSION: Final = "tidemark.rows-version"
"""The property of a snapshot with the Delta version whose files it lists."""
KEPT_VERSIONS: Final = "tidemark.kept-versions"
"""The property of a table with the older Delta versions whose files snapshots list, separated by commas."""
_HINT: Final = f"{FOLDER}/version-hint.text"
_NAME: Final = re.compile(rf"{FOLDER}/v(\d+)\.metadata\.json")
_KEPT: Final = 20
"""The versions of the metadata to keep. Readers read the file of a version at once."""


class MetadataVersion(NamedTuple):
    """Version `number`, with the content of its file."""

    number: int
    content: Mapping[str, Any]


@dataclass(frozen=True)
class IcebergMetadata:
    """The metadata of the table in one folder."""

    location: TableLocation

    @classmethod
    def of(cls, lake: TableLocation, entity: str) -> IcebergMetadata:
        """The metadata of an entity in a lake."""
        return cls(lake / ICEBERG_FOLDER / entity)

    def newest(self) -> MetadataVersion | None:
        """The newest version; None if there is none."""
        store, number = stored_files(self.location), self._hinted()
        if not number:
            numbers = map(_NAME.fullmatch, store.names_in(FOLDER))
            number = max((int(match[1]) for match in numbers if match), default=0)
        while store.exists(_name(number + 1)):
            number += 1
        return MetadataVersion(number, json.loads(store.read(_name(number)))) if number else None

    def put(self, version: MetadataVersion) -> bool:
        """Commit a version that follows the newest one. Returns False if another writer put other content first."""
        store = stored_files(self.location)
        crash_point("iceberg.written")
        if not store.put_if_absent(_name(version.number), json_text(version.content).encode()):
            return False
        crash_point("iceberg.committed")
        self.put_hint(version.number)
        crash_point("iceberg.hinted")
        store.delete(name for name in store.names_in(FOLDER) if _is_old(name, version.number))
        return True

    def put_hint(self, number: int) -> None:
        """Name the newest version to readers. A hint never goes back."""
        if self._hinted() < number:
            stored_files(self.location).put(_HINT, str(number).encode())

    def _hinted(self) -> int:
        try:
            return int(stored_files(self.location).read(_HINT))
        except (FileNotFoundError, ValueError):
            return 0


def versions_in_use(lake: TableLocation, entity: str) -> frozenset[int]:
    """The Delta versions whose files the metadata of an entity lists."""
    newest = IcebergMetadata.of(lake, entity).newest()
    if newest is None:
        return frozenset()
    main = newest.content["current-snapshot-id"]
    told = next(told["summary"] for told in newest.content["snapshots"] if told["snapshot-id"] == main)
    others = newest.content["properties"].get(KEPT_VERSIONS, "")
    return frozenset(map(int, (told[ROWS_VERSION], *filter(None, others.split(",")))))


def _name(number: int) -> str:
    return f"{FOLDER}/v{number}.metadata.json"


def _is_old(name: str, newest: int) -> bool:
    match = _NAME.fullmatch(name)
    return match is not None and int(match[1]) <= newest - _KEPT
