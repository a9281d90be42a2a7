"""The catalog in the JSON of the HTTP interface and of `tidemark catalog --json`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.catalog.catalog import CatalogEntry, CatalogPage, CatalogSlice
    from tidemark.catalog.notes import SchemaNote


class _Model(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class SliceCountsModel(_Model):
    """Numbers of slices: completed ones, completed ones with faults, and others; `newest` is the newest key."""

    completed: int
    invalid: int
    tainted: int
    foreign: int
    partial: int
    absent: int
    failed: int
    running: int
    newest: str


class LastReaderModel(_Model):
    """The slice that most recently read the entity, with its run and time."""

    slice: str
    run_id: str | None
    at: datetime


class CatalogEntryModel(_Model):
    """One entity; unknown or missing values are null."""

    entity: str
    layer: str
    kind: str
    owner: str
    slices: SliceCountsModel
    snapshots: int
    table_version: int | None
    committed_at: datetime | None
    rows: int | None
    size_bytes: int | None
    files: int | None
    schema_version: int | None
    columns: int | None
    last_reader: LastReaderModel | None


class AnomalyModel(_Model):
    """An unusual figure, and its distance from the usual one in standard deviations."""

    measure: str
    actual: str
    expected: str
    score: float


class ProfileSummaryModel(_Model):
    """The last measured profile. Not `is_published`: these rows broke a rule, and the slice has other rows."""

    measured_at: datetime
    rows: int
    columns: int
    history: str
    anomalies: list[AnomalyModel]
    is_published: bool


class SliceCompletenessModel(_Model):
    """Records that the source and the lake counted, and the number of incomplete slots."""

    source: int
    lake: int
    slots: int
    open_slots: int
    is_complete: bool


class CatalogSliceModel(_Model):
    """One slice: its status and its data; `version` is its table's.

    `rules` is their last result. `issues` are the slices whose failed quality affects it. `untagged` is why the last
    version of a captured slice is not tagged. `profile` and `completeness` are null if not stored or counted.
    """

    slice: str
    run_state: str
    states: list[str]
    quality: str
    valid: bool
    tainted: bool
    generation: int
    rows: int | None
    size_bytes: int | None
    files: int | None
    version: int | None
    run_id: str | None
    issues: list[str]
    rules: str
    untagged: str
    profile: ProfileSummaryModel | None
    completeness: SliceCompletenessModel | None


class SchemaModel(_Model):
    """The columns of the table from a version on: name to type."""

    version: int
    at: datetime | None
    columns: dict[str, str]


class CatalogModel(_Model):
    """All entities, upstream before downstream."""

    entities: list[CatalogEntryModel]


class CatalogPageModel(_Model):
    """One entity, its schemas (oldest first) and its newest slices (newest first)."""

    entity: CatalogEntryModel
    schemas: list[SchemaModel]
    slices: list[CatalogSliceModel]


def catalog_model(entries: Iterable[CatalogEntry]) -> CatalogModel:
    """The answer for all entities."""
    return CatalogModel(entities=list(map(CatalogEntryModel.model_validate, entries)))


def page_model(page: CatalogPage) -> CatalogPageModel:
    """The answer for one entity."""
    return CatalogPageModel(
        entity=CatalogEntryModel.model_validate(page.entry),
        schemas=list(map(_schema_model, page.schemas)),
        slices=list(map(_slice_model, page.slices)),
    )


def _schema_model(schema: SchemaNote) -> SchemaModel:
    at = datetime.fromtimestamp(schema.at / 1000, UTC) if schema.at else None
    return SchemaModel(version=schema.version, at=at, columns=dict(schema.columns))


def _slice_model(slice_: CatalogSlice) -> CatalogSliceModel:
    details = slice_.details
    return CatalogSliceModel(
        slice=str(slice_.slice),
        run_state=slice_.run_state,
        states=list(slice_.states),
        quality=slice_.quality,
        valid=slice_.valid,
        tainted=slice_.tainted,
        generation=slice_.generation,
        rows=slice_.rows,
        size_bytes=slice_.size_bytes,
        files=slice_.files,
        version=slice_.version,
        run_id=slice_.run_id,
        issues=list(slice_.issues),
        rules=details.rules,
        untagged=slice_.untagged,
        profile=ProfileSummaryModel.model_validate(details.profile) if details.profile else None,
        completeness=SliceCompletenessModel.model_validate(details.completeness) if details.completeness else None,
    )
