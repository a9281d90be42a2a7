"""Contradictions between declarations and the project's settings, reported by `tidemark check`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from tidemark.dependency_model.entity.field_types import LOG_CHANNEL
from tidemark.dependency_model.entity.yaml_document import read_document
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import EntityError
from tidemark.system.project_root import PROJECT_FILE
from tidemark.system.refresh_target import REFRESHES
from tidemark.warehouse.entity_files import DEFAULTS_FILE
from tidemark.warehouse.reserved_names import RESERVED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.system.settings import Settings


def project_problems(settings: Settings, entities: Collection[Entity]) -> Iterator[EntityError]:
    """Problems of the defaults, folders, channels, replicas and targets with respect to `tidemark.yaml`."""
    yield from _other_defaults(settings)
    for entity in entities:
        if entity.name.lower() in RESERVED:
            yield EntityError(
                f"'{entity.name}' is the name of a table that Tidemark itself writes into the lake",
                expected=f"a name other than {' and '.join(sorted(RESERVED))}",
                where=entity.file,
                hint="rename its files",
            )
        folder = entity.file.partition("/")[0] if "/" in entity.file else ""
        if folder and folder not in settings.layers:
            yield EntityError(
                f"the folder '{folder}' is not a layer of this project",
                expected=f"one of {', '.join(settings.layers)}",
                where=entity.file,
                hint=did_you_mean(folder, settings.layers) or f"add it to `layers` in {PROJECT_FILE}",
            )
    yield from _unknown_names(settings, entities, "notify", "channel", (LOG_CHANNEL, *settings.channels))
    places = tuple(replica.name for replica in settings.replicas)
    own = (settings.center,) if settings.center else ()
    yield from _unknown_names(settings, entities, "replicate", "replica", (*places, *own))
    yield from _unknown_centers(settings, entities, (*own, *places))
    yield from _wrong_refreshes(settings, entities)
    yield from _without_pyiceberg(entities)


def _unknown_centers(settings: Settings, entities: Collection[Entity], known: tuple[str, ...]) -> Iterator[EntityError]:
    """Tables of a center that is neither this one nor beside a replica, or in a project without a name of its own."""
    for entity in entities:
        if entity.center is not None and (not settings.center or entity.center not in known):
            yield EntityError(
                f"this project does not know the center '{entity.center}'",
                expected=f"one of {', '.join(known)}" if settings.center else "the name of this center",
                where=_line_of(settings.declarations, entity.file, ("center",)),
                hint=did_you_mean(entity.center, known)
                or f"write `center: NAME` in {PROJECT_FILE}, and the lakes of other centers in its `replicas`",
            )


def _without_pyiceberg(entities: Collection[Entity]) -> Iterator[EntityError]:
    """The first declaration of Iceberg metadata, if its library is missing here."""
    reader = next((entity for entity in entities if "iceberg" in entity.read_by), None)
    if reader is not None and find_spec("pyiceberg") is None:
        yield EntityError(
            "Iceberg metadata is written by PyIceberg, which is not installed",
            expected="the package pyiceberg",
            where=reader.file,
            hint="pip install 'tidemark[iceberg]', or remove iceberg from `read_by`",
        )


def _wrong_refreshes(settings: Settings, entities: Collection[Entity]) -> Iterator[EntityError]:
    """Entries of `refresh` with an unknown target, or with an object that the target cannot refresh."""
    targets = {target.name: target for target in settings.refresh_targets}
    for entity in entities:
        for at, told in enumerate(entity.refresh):
            target = targets.get(told.target)
            if target is None:
                yield EntityError(
                    f"this project has no target with the name '{told.target}'",
                    expected=f"one of {', '.join(targets)}"
                    if targets
                    else f"a name of `refresh_targets` in {PROJECT_FILE}",
                    where=_line_of(settings.declarations, entity.file, ("refresh", at, "target")),
                    hint=did_you_mean(told.target, targets) or f"add it to `refresh_targets` in {PROJECT_FILE}",
                )
                continue
            allowed, used = REFRESHES[target.kind], told.used()
            if not set(used) <= set(allowed) or bool(used) != bool(allowed):
                yield EntityError(
                    f"a {target.kind.value} cannot refresh this",
                    expected=" or ".join(allowed) or "only the target",
                    found=", ".join(used) or "only the target",
                    where=_line_of(settings.declarations, entity.file, ("refresh", at)),
                    hint=f"declare the objects of '{told.target}' for each slice (docs/refresh.md)",
                )


def _line_of(root: Path, file: str, key: tuple[str | int, ...]) -> str:
    path = root / file
    document = read_document(path.read_text(encoding="utf-8"), file) if path.is_file() else None
    return f"{file}:{document.line(key)}" if document else file


def _unknown_names(
    settings: Settings, entities: Collection[Entity], key: str, what: str, known: tuple[str, ...]
) -> Iterator[EntityError]:
    """Unknown names in a key of the entities, each place once."""
    told = set[str]()
    for entity in entities:
        for name in getattr(entity, key):
            where = "" if name in known else _line_of_name(settings.declarations, entity.file, key, name)
            if where and where not in told:
                told.add(where)
                yield EntityError(
                    f"this project has no {what} with the name '{name}'",
                    expected=f"one of {', '.join(known)}" if known else f"a name of `{what}s` in {PROJECT_FILE}",
                    where=where,
                    hint=did_you_mean(name, known) or f"add it to `{what}s` in {PROJECT_FILE}",
                )


def _line_of_name(root: Path, file: str, key: str, wanted: str) -> str:
    """The place of a name in a key: in the entity's file, else in the defaults."""
    for name in (file, DEFAULTS_FILE):
        path = root / name
        document = read_document(path.read_text(encoding="utf-8"), name) if path.is_file() else None
        values = document.values if document and isinstance(document.values, dict) else {}
        names = values.get(key, ())
        if document and wanted in names:
            return f"{name}:{document.line((key, names.index(wanted)))}"
    return file


def _other_defaults(settings: Settings) -> Iterator[EntityError]:
    path = settings.declarations / DEFAULTS_FILE
    if not path.is_file():
        return
    try:
        document = read_document(path.read_text(encoding="utf-8"), DEFAULTS_FILE)
    except (EntityError, UnicodeDecodeError):  # reported when the declarations are read
        return
    values = document.values if isinstance(document.values, dict) else {}
    for key, expected in settings.declaration_defaults.items():
        if values.get(key, expected) != expected:
            yield EntityError(
                f"{key} differs from the project's",
                expected=f"{expected}, as {PROJECT_FILE} says",
                found=str(values[key]),
                where=f"{DEFAULTS_FILE}:{document.line((key,))}",
                hint=f"remove it here: {PROJECT_FILE} holds it for all declarations",
            )
