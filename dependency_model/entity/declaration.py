"""From the values of one file to an entity, with every error put at its line and key."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from dependency_model.entity.dependency import COMPLETED, Dependency, Weak
from dependency_model.entity.entity import Entity, EntityState, Source
from dependency_model.entity.rules import broken_rules
from dependency_model.errors import EntityError
from dependency_model.suggestion import did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dependency_model.entity.document import Document, Path

_ADAPTER = TypeAdapter(Entity)
_KEYS = sorted({f.name for cls in (Entity, EntityState, Dependency, Weak, Source) for f in fields(cls)} | {"dates"})
_INTERNAL = ("layer", "file")


def declared(values: Any, defaults: Mapping[str, Any]) -> Entity:
    """The entity of a file's values. Raises pydantic's ValidationError."""
    return _ADAPTER.validate_python(shaped(values, defaults))


def shaped(values: Any, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults below, the file's own values above them; `depends_on` alone is the completed state's."""
    own = {} if values is None else dict(values)
    merged = {**defaults, **own}
    if "tags" in defaults and isinstance(own.get("tags"), dict):
        merged["tags"] = {**defaults["tags"], **own["tags"]}
    states = merged.get("states") or []
    if "depends_on" in merged:
        states = [*states, {"entity_state": COMPLETED, "depends_on": merged.pop("depends_on") or []}]
    merged["states"] = states or [{"entity_state": COMPLETED}]
    return merged


def problems(document: Document, file: str, defaults: Mapping[str, Any]) -> Iterator[EntityError]:
    """Everything that is wrong with one file."""
    values = document.values
    if values is not None and not isinstance(values, dict):
        yield EntityError("a declaration is a mapping of keys to values", found=shown(values), where=f"{file}:1")
        return
    for name in _INTERNAL:
        if values and name in values:
            yield _at(document, file, (name,), EntityError(f"unknown key '{name}'"))
    try:
        entity = declared(values, defaults)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            yield _told(document, file, detail)
        return
    for key, problem in broken_rules(entity):
        yield _at(document, file, (key,), problem)


def _told(document: Document, file: str, detail: Any) -> EntityError:
    path = tuple(part for part in detail["loc"] if isinstance(part, (str, int)))
    key = str(path[-1]) if path else ""
    if detail["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        problem = EntityError(f"unknown key '{key}'", hint=_about_key(key))
    else:
        message = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
        given = None if detail["type"] in ("missing", "value_error") else shown(detail["input"])
        expected = str(detail.get("ctx", {}).get("expected", ""))
        words = [word.strip("' ") for word in expected.replace(" or ", ",").split(",")]
        problem = EntityError(f"{key}: {message}", found=given, hint=did_you_mean(str(detail["input"]), words))
    return _at(document, file, path, problem)


def _about_key(key: str) -> str | None:
    if key.lstrip("+-").isdecimal():
        return 'inside braces a comma ends the value: put the offset in quotes, "Set 0,-1"'
    return did_you_mean(key, _KEYS)


def _at(document: Document, file: str, path: Path, problem: EntityError) -> EntityError:
    if path[:1] == ("states",) and ("states",) not in document.lines:
        path = path[2:]
    problem.where = f"{file}:{document.line(path)}"
    return problem
