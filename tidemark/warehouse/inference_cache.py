"""The inputs of queries, cached between processes: an entity is only analysed again after a change.

An entry is valid for the texts of the entity's queries, for the time settings of the entity and its inputs, and for the
code of the analysis.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from tidemark.errors import EntityError, ParseError
from tidemark.warehouse.cache_file import cache_path, read_cache, write_cache
from tidemark.warehouse.known_columns import declared_columns
from tidemark.warehouse.query_text import reads_as_json, reads_from_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.lineage.inferred_read import Read
    from tidemark.system.settings import Settings
    from tidemark.warehouse.query_text import QueryText
    from tidemark.warehouse.read_analysis import ReadAnalysis

_MODEL: Final = Path(__file__).resolve().parent.parent / "dependency_model"
_ANALYSIS: Final = ("lineage", "offset", "time")


@dataclass
class InferenceCache:
    """Entries by entity. As a context manager, it writes new entries at the end."""

    path: Path | None
    _old: dict[str, Any] = field(default_factory=dict)
    _new: dict[str, Any] = field(default_factory=dict)
    _passing: dict[str, Any] = field(default_factory=dict)
    _analysis: ReadAnalysis | None = None
    analysed: int = 0
    """The number of entities that were analysed and not found in the cache."""

    @classmethod
    def of(cls, root: Path, settings: Settings, *, kind: str = "inference") -> Self:
        """The cache of a folder of declarations; each `kind` has its own."""
        path = cache_path(kind, root, settings)
        return cls(path, read_cache(path))

    def reads(self, entity: Entity, texts: Sequence[QueryText], entities: Mapping[str, Entity]) -> dict[str, Read]:
        """The inputs of an entity's queries. Raises QueryError."""
        known = self.look_up(entity, texts, entities)
        if known is None:
            known = self._analyse(entity, texts, entities)
            self.keep(entity, texts, entities, known)
        return known

    def reads_of_all(
        self, texts_by_name: Mapping[str, Sequence[QueryText]], entities: Mapping[str, Entity]
    ) -> dict[str, dict[str, Read] | EntityError]:
        """The inputs of the queries of many entities, by entity, or their error."""
        kept = {name: self.look_up(entities[name], texts, entities) for name, texts in texts_by_name.items()}
        new = self._analyse_all({name: texts_by_name[name] for name, reads in kept.items() if reads is None}, entities)
        for name, reads in new.items():
            if not isinstance(reads, EntityError):
                self.keep(entities[name], texts_by_name[name], entities, reads)
        return {name: new[name] if reads is None else reads for name, reads in kept.items()}

    def look_up(
        self, entity: Entity, texts: Sequence[QueryText], entities: Mapping[str, Entity]
    ) -> dict[str, Read] | None:
        """The cached inputs of an entity, if nothing has changed."""
        key = _key(entity, texts, entities)
        if entity.name in self._passing:
            return _valid(self._passing[entity.name], key, entities)
        entry = self._new.get(entity.name, self._old.get(entity.name))
        valid = _valid(entry, key, entities)
        if valid is not None:
            self._new[entity.name] = entry
        return valid

    def keep(
        self,
        entity: Entity,
        texts: Sequence[QueryText],
        entities: Mapping[str, Entity],
        read_by_table: Mapping[str, Read],
        *,
        lasting: bool = True,
    ) -> None:
        """Stores an entity's inputs; only in this process unless `lasting`."""
        key = _key(entity, texts, entities)
        tables = {name: _signature(entities[name], entities) for name in read_by_table}
        entry = {"key": key, "tables": tables, "reads": reads_as_json(read_by_table)}
        (self._new if lasting else self._passing)[entity.name] = entry

    def _analyse_all(
        self, texts_by_name: Mapping[str, Sequence[QueryText]], entities: Mapping[str, Entity]
    ) -> dict[str, dict[str, Read] | EntityError]:
        """Analyses many queries in several processes. These leave out queries with errors, which are analysed here."""
        if not texts_by_name:
            return {}
        from tidemark.warehouse.read_analysis import analyse_apart  # noqa: PLC0415 - where nothing changed, not needed

        apart = analyse_apart(entities, texts_by_name)
        self.analysed += len(apart)
        left = {name: texts for name, texts in texts_by_name.items() if name not in apart}
        return {**apart, **{name: self._told(entities[name], texts, entities) for name, texts in left.items()}}

    def _told(
        self, entity: Entity, texts: Sequence[QueryText], entities: Mapping[str, Entity]
    ) -> dict[str, Read] | EntityError:
        try:
            return self._analyse(entity, texts, entities)
        except EntityError as error:
            return error

    def _analyse(self, entity: Entity, texts: Sequence[QueryText], entities: Mapping[str, Entity]) -> dict[str, Read]:
        from tidemark.warehouse.read_analysis import ReadAnalysis  # noqa: PLC0415 - where nothing changed, not needed

        self.analysed += 1
        if self._analysis is None:
            self._analysis = ReadAnalysis(entities)
        return self._analysis.reads(entity, texts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._new != self._old:
            write_cache(self.path, self._new)


def _valid(entry: Any, key: str, entities: Mapping[str, Entity]) -> dict[str, Read] | None:
    """The inputs of an entry that is still valid."""
    try:
        if entry["key"] != key or any(
            _signature(entities[name], entities) != was for name, was in entry["tables"].items()
        ):
            return None
        return reads_from_json(entry["reads"])
    except (KeyError, TypeError, AttributeError, ValueError, ParseError):
        return None


def _key(entity: Entity, texts: Sequence[QueryText], entities: Mapping[str, Entity]) -> str:
    parts = [analysis_version(), entity.name, _signature(entity, entities)]
    parts += [f"{text.file}:{text.first_line}:{text.names}\n{text.text}" for text in texts]
    parts += [f"{view.file}:{view.names}\n{view.means}" for text in texts for view in text.views]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _signature(entity: Entity, entities: Mapping[str, Entity]) -> str:
    """An entity's time settings, partition columns and declared columns."""
    forms = "".join(f" {column.name}:{column.declared}" for column in entity.partition_columns)
    columns = f" {' '.join(names)}" if (names := declared_columns(entity, entities)) else ""
    return f"{entity.period} {entity.time_zone} {entity.week_start} {entity.holidays} {entity.start}{forms}{columns}"


@lru_cache(maxsize=1)
def analysis_version() -> str:
    """A fingerprint of the analysis's own code."""
    files = sorted(path for folder in _ANALYSIS for path in (_MODEL / folder).rglob("*.py"))
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
