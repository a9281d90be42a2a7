"""Makes an entity from the values of one file. Each error has its line and key."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from tidemark.dependency_model.entity.consistency import broken_rules
from tidemark.dependency_model.entity.dependency import COMPLETED, Dependency, Weak
from tidemark.dependency_model.entity.entity import CapturedSource, Entity, EntityState
from tidemark.dependency_model.entity.probe import (
    CountsProbe,
    DagsterProbe,
    DeltaProbe,
    FilesProbe,
    HttpProbe,
    KafkaProbe,
    OwnProbe,
    PartitionsProbe,
    Probe,
    SqlProbe,
)
from tidemark.dependency_model.entity.profile_settings import ProfileSettings
from tidemark.dependency_model.entity.quality_rules import RULES
from tidemark.dependency_model.entity.refresh import Refresh
from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.errors import EntityError, TidemarkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.dependency_model.entity.yaml_document import Document, Path

_ADAPTER = TypeAdapter(Entity)
INTERNAL = frozenset({"layer", "file", "computed", "rule_inputs"})
"""Fields of an entity that files must not declare."""
_PROBES = (
    Probe,
    DeltaProbe,
    FilesProbe,
    PartitionsProbe,
    SqlProbe,
    HttpProbe,
    KafkaProbe,
    DagsterProbe,
    CountsProbe,
    OwnProbe,
)
_MODELS = (Entity, EntityState, Dependency, Weak, CapturedSource, ProfileSettings, Refresh, *_PROBES, *RULES.values())
_KEYS = sorted({f.name for cls in _MODELS for f in fields(cls)} | {"dates"})


def entity_of(values: Any, defaults: Mapping[str, Any]) -> Entity:
    """The entity of a file's values. Raises pydantic's ValidationError."""
    return _ADAPTER.validate_python(with_defaults(values, defaults))


_EXPECTED: Final = {
    **dict.fromkeys(("tuple_type", "list_type", "set_type", "frozen_set_type"), "a list, as in [a, b]"),
    **dict.fromkeys(
        ("dict_type", "mapping_type", "dataclass_type", "model_type"), "keys and values, as in {key: value}"
    ),
    "string_type": "a text",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
}
"""What a value must be, by pydantic's type of error."""


def with_defaults(values: Any, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The file's values over the defaults. A plain `depends_on` becomes the dependencies of the completed state."""
    own = {} if values is None else dict(values)
    merged = {**defaults, **own}
    if "tags" in defaults and isinstance(own.get("tags"), dict):
        merged["tags"] = {**defaults["tags"], **own["tags"]}
    states = merged.get("states") or []
    if "depends_on" in merged:
        states = [*states, {"entity_state": COMPLETED, "depends_on": merged.pop("depends_on") or []}]
    merged["states"] = states or [{"entity_state": COMPLETED}]
    return merged


def problems_in(document: Document, file: str, defaults: Mapping[str, Any]) -> Iterator[EntityError]:
    """All errors of one file."""
    values = document.values
    if values is not None and not isinstance(values, dict):
        yield EntityError("a declaration is a mapping of keys to values", found=quote_value(values), where=f"{file}:1")
        return
    for name in sorted(INTERNAL):
        if values and name in values:
            yield _at(document, file, (name,), EntityError(f"unknown key '{name}'"))
    try:
        entity = entity_of(values, defaults)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            yield _error_of(document, file, detail)
        return
    for key, problem in broken_rules(entity):
        yield _at(document, file, tuple(key.split(".")) if isinstance(key, str) else key, problem)


def _error_of(document: Document, file: str, detail: Any) -> EntityError:
    path = _as_written(document, tuple(part for part in detail["loc"] if isinstance(part, (str, int))))
    return _at(document, file, path, _problem(path, detail))


def _problem(path: Path, detail: Any) -> EntityError:
    """A pydantic error as an EntityError."""
    key, given = _key_of(path), detail["input"]
    context = detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden" | "unexpected_keyword_argument":
            return EntityError(f"unknown key '{path[-1]}'", hint=_about_key(str(path[-1])))
        case "missing":
            return EntityError(f"the key '{key}' is missing")
        case "enum" | "literal_error":
            words = [word.strip("' ") for word in str(context["expected"]).replace(" or ", ",").split(",")]
            hint = did_you_mean(str(given), words)
            return EntityError(
                f"unknown {key}", expected=f"one of {', '.join(words)}", found=quote_value(given), hint=hint
            )
        case "value_error":
            return _of_value_error(key, context["error"])
    if expected := _EXPECTED.get(detail["type"]):
        return EntityError(f"{key} has another form", expected=expected, found=quote_value(given))
    return EntityError(f"{key}: {detail['msg']}", found=quote_value(given))


def _of_value_error(key: str, error: ValueError) -> EntityError:
    cause = error.__cause__
    if isinstance(cause, TidemarkError):
        message = f"{key}: {cause.message}"
        return EntityError(message, expected=cause.expected, found=cause.found, hint=cause.hint)
    return EntityError(f"{key}: {error}")


def _key_of(path: Path) -> str:
    """The key as text: `depends_on[0].offset`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def _about_key(key: str) -> str | None:
    if key.lstrip("+-").isdecimal():
        return 'inside braces a comma ends the value: put the offset in quotes, "Set 0,-1"'
    return did_you_mean(key, [other for other in _KEYS if other != key])


def _as_written(document: Document, path: Path) -> Path:
    """The path in the file: a plain `depends_on` was moved to the completed state before validation."""
    is_short = path[:1] == ("states",) and len(path) > 2 and path[:2] not in document.lines
    return path[2:] if is_short else path


def _at(document: Document, file: str, path: Path, problem: EntityError) -> EntityError:
    problem.where = f"{file}:{document.line(path)}"
    return problem
