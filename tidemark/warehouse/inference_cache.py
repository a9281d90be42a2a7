"""What queries read, kept from process to process: an entity is analysed again only when something about it changed.

Each entry is valid for the texts of the entity's queries, for how time cuts the entity and the tables that it reads,
and for the code of the analysis.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.lineage.inferred_read import Read, Runs
from tidemark.dependency_model.offset.offset import Offset
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.dependency_model.time.period import Period
from tidemark.errors import ParseError, QueryError
from tidemark.warehouse.cache_file import cache_path, read_cache, write_cache
from tidemark.warehouse.known_columns import declared_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.lineage.declared_sql.view import SqlView
    from tidemark.dependency_model.lineage.parsed_query import Query
    from tidemark.system.settings import Settings

_MODEL: Final = Path(__file__).resolve().parent.parent / "dependency_model"
_ANALYSIS: Final = ("lineage", "offset", "time")


@dataclass(frozen=True)
class QueryText:
    """A query as it stands in a file below the declarations' root, from a line on.

    `names` are where names of tables begin that stood there with their schema; `views` all that it reads through.
    """

    text: str
    file: str
    first_line: int = 1
    names: tuple[int, ...] = ()
    views: tuple[SqlView, ...] = ()


@dataclass
class InferenceCache:
    """Entries by entity; use it as a context, which writes what is new at its end."""

    path: Path | None
    time_zone: str
    _old: dict[str, Any] = field(default_factory=dict)
    _new: dict[str, Any] = field(default_factory=dict)
    _passing: dict[str, Any] = field(default_factory=dict)
    _subjects: dict[str, Any] | None = None
    analysed: int = 0
    """How many entities were analysed, not found."""

    @classmethod
    def of(cls, root: Path, settings: Settings, *, kind: str = "inference") -> Self:
        """The cache of a folder of declarations; of another kind, one beside it."""
        path = cache_path(kind, root, settings)
        return cls(path, settings.time_zone, read_cache(path))

    def reads(self, entity: Entity, texts: Sequence[QueryText], entities: Mapping[str, Entity]) -> dict[str, Read]:
        """What an entity's queries read. Raises QueryError."""
        known = self.look_up(entity, texts, entities)
        if known is None:
            known = self._analyse(entity, texts, entities)
            self.keep(entity, texts, entities, known)
        return known

    def look_up(
        self, entity: Entity, texts: Sequence[QueryText], entities: Mapping[str, Entity]
    ) -> dict[str, Read] | None:
        """What was found of an entity as it stands now."""
        key = _key(entity, texts, self.time_zone, entities)
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
        """Note what an entity reads; in this process only where it is not `lasting`."""
        key = _key(entity, texts, self.time_zone, entities)
        tables = {name: _signature(entities[name], entities) for name in read_by_table}
        entry = {"key": key, "tables": tables, "reads": [_as_json(read) for read in read_by_table.values()]}
        (self._new if lasting else self._passing)[entity.name] = entry

    def _analyse(self, entity: Entity, texts: Sequence[QueryText], entities: Mapping[str, Entity]) -> dict[str, Read]:
        from tidemark.dependency_model.lineage.business_time_parameters import parameter_names  # noqa: PLC0415
        from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession  # noqa: PLC0415
        from tidemark.dependency_model.lineage.inference import infer  # noqa: PLC0415 - loads the SQL parser
        from tidemark.dependency_model.lineage.parsed_query import read_query  # noqa: PLC0415
        from tidemark.dependency_model.lineage.table_names import refuse_other_names  # noqa: PLC0415

        self.analysed += 1
        queries = [read_query(text.text, file=text.file, first_line=text.first_line) for text in texts]
        if self._subjects is None:
            self._subjects = {
                entity.name: EntityOutline(
                    entity.name,
                    entity.period,
                    entity.calendar,
                    entity.start,
                    declared_columns(entity, entities),
                    entity.partition_columns,
                )
                for entity in entities.values()
            }
        subjects = self._subjects
        views = {view.name: view for text in texts for view in text.views}
        of_views = {name: read_query(view.means, file=view.file) for name, view in views.items()}
        written = [text.names for text in texts] + [view.names for view in views.values()]
        is_view = entity.kind is EntityKind.VIEW
        known = parameter_names(Period.FIVE_MINUTES if is_view else entity.period)
        for query, names in zip([*queries, *of_views.values()], written, strict=True):
            _refuse_unknown_parameters(query, known)
            refuse_other_names(query, names)
        down = EntityOutline(entity.name, None, entity.calendar) if is_view else subjects[entity.name]
        return infer(queries, down, subjects, session=QuerySession(self.time_zone), views=of_views)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._new != self._old:
            write_cache(self.path, self._new)


def _refuse_unknown_parameters(query: Query, known: Sequence[str]) -> None:
    """Raise QueryError for a parameter that no slice of the entity binds: the query cannot run."""
    for name, place in query.parameters().items():
        if name not in known:
            expected = ", ".join(f":{name}" for name in known) or "none, a Static entity has no business time"
            hint = did_you_mean(name, known)
            raise QueryError(
                "unknown parameter", expected=expected, found=f":{name}", where=query.where(place), hint=hint
            )


def _valid(entry: Any, key: str, entities: Mapping[str, Entity]) -> dict[str, Read] | None:
    """The reads of an entry that still holds."""
    try:
        if entry["key"] != key or any(
            _signature(entities[name], entities) != was for name, was in entry["tables"].items()
        ):
            return None
        return {read["table"]: _from_json(read) for read in entry["reads"]}
    except (KeyError, TypeError, AttributeError, ValueError, ParseError):
        return None


def _as_json(read: Read) -> dict[str, Any]:
    offsets = [str(offset) for offset in read.offsets]
    told = {"table": read.table, "where": read.where, "offsets": offsets, "undecidable": read.undecidable}
    slices = {"evaluated": read.evaluated, "at_least": read.at_least}
    return {**told, **{name: by_time for name, by_time in slices.items() if by_time}}


def _from_json(value: Mapping[str, Any]) -> Read:
    offsets = tuple(Offset.parse(text) for text in value["offsets"])
    evaluated, at_least = (_by_time(value.get(name, ())) for name in ("evaluated", "at_least"))
    return Read(str(value["table"]), str(value["where"]), offsets, str(value["undecidable"]), evaluated, at_least)


def _by_time(told: Sequence[Any]) -> tuple[tuple[int, Runs], ...]:
    return tuple((int(down), tuple((int(first), int(last)) for first, last in runs)) for down, runs in told)


def _key(entity: Entity, texts: Sequence[QueryText], time_zone: str, entities: Mapping[str, Entity]) -> str:
    parts = [analysis_version(), time_zone, entity.name, _signature(entity, entities)]
    parts += [f"{text.file}:{text.first_line}:{text.names}\n{text.text}" for text in texts]
    parts += [f"{view.file}:{view.names}\n{view.means}" for text in texts for view in text.views]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _signature(entity: Entity, entities: Mapping[str, Entity]) -> str:
    """How time cuts an entity, how its rows tell it, and which columns it is said to have."""
    forms = "".join(f" {column.name}:{column.declared}" for column in entity.partition_columns)
    columns = f" {' '.join(names)}" if (names := declared_columns(entity, entities)) else ""
    return f"{entity.period} {entity.time_zone} {entity.week_start} {entity.holidays} {entity.start}{forms}{columns}"


@lru_cache(maxsize=1)
def analysis_version() -> str:
    """A fingerprint of the analysis' own code."""
    files = sorted(path for folder in _ANALYSIS for path in (_MODEL / folder).rglob("*.py"))
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
