"""Iceberg's schema for a Delta schema. The files have no ids of fields, so a mapping from names to ids goes with it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidemark.engines.errors import IcebergCannotHoldError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Path = tuple[str, ...]
_TYPES: Final[Mapping[str, str]] = {
    **{name: name for name in ("boolean", "long", "float", "double", "string", "binary", "date")},
    **dict.fromkeys(("byte", "short", "integer"), "int"),
    "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
}
_DECIMAL: Final = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_INTEGERS: Final = ("byte", "short", "integer", "long")
_CHANGES: Final = "delta.typeChanges"


@dataclass
class FieldIds:
    """The ids of all fields that a table has had, by path. An element of a list is `element`."""

    last: int = 0
    ids: dict[Path, int] = field(default_factory=dict)

    @classmethod
    def of(cls, schemas: Iterable[Mapping[str, Any]], last: int) -> FieldIds:
        """The ids in Iceberg's own schemas; `last` is the highest id that was ever given."""
        held = cls(last)
        for schema in schemas:
            held.ids.update(_known(schema, ()))
        return held

    def of_path(self, path: Path) -> int:
        """The id of a field, a new one if the path is new."""
        if path not in self.ids:
            self.last += 1
            self.ids[path] = self.last
        return self.ids[path]

    def name_mapping(self) -> list[dict[str, Any]]:
        """Iceberg's mapping from the names in files to ids ("Name Mapping Serialization")."""
        return self._mapped(())

    def _mapped(self, above: Path) -> list[dict[str, Any]]:
        here = [path for path in self.ids if path[:-1] == above]
        entries = [{"field-id": self.ids[path], "names": [path[-1]], "fields": self._mapped(path)} for path in here]
        return [{name: value for name, value in entry.items() if value != []} for entry in entries]


def _known(type_: Any, path: Path) -> Iterator[tuple[Path, int]]:
    if not isinstance(type_, dict):
        return
    if type_["type"] == "struct":
        inner = [(told["name"], told["id"], told["type"]) for told in type_["fields"]]
    else:
        names = ("element",) if type_["type"] == "list" else ("key", "value")
        inner = [(name, type_[f"{name}-id"], type_[name]) for name in names]
    for name, id_, nested in inner:
        yield (*path, name), id_
        yield from _known(nested, (*path, name))


def fields_of(schema_string: str, ids: FieldIds, where: str) -> list[dict[str, Any]]:
    """The fields of Iceberg's schema for Delta's schema in JSON. Raises IcebergCannotHoldError."""
    return _fields(json.loads(schema_string), ids, (), where)


def _fields(struct: Mapping[str, Any], ids: FieldIds, path: Path, where: str) -> list[dict[str, Any]]:
    return [_field(told, ids, (*path, told["name"]), where) for told in struct["fields"]]


def _field(told: Mapping[str, Any], ids: FieldIds, path: Path, where: str) -> dict[str, Any]:
    for change in (told.get("metadata") or {}).get(_CHANGES, ()):
        if not _is_promotion(str(change["fromType"]), str(change["toType"])):
            raise IcebergCannotHoldError.change(where, ".".join(path), change["fromType"], change["toType"])
    id_ = ids.of_path(path)
    return {"id": id_, "name": path[-1], "required": False, "type": _type(told["type"], ids, path, where)}


def _type(type_: Any, ids: FieldIds, path: Path, where: str) -> Any:
    if isinstance(type_, str):
        decimal = _DECIMAL.fullmatch(type_)
        if not decimal and type_ not in _TYPES:
            raise IcebergCannotHoldError.type(where, ".".join(path), type_)
        return f"decimal({decimal[1]}, {decimal[2]})" if decimal else _TYPES[type_]
    if type_["type"] == "struct":
        return {"type": "struct", "fields": _fields(type_, ids, path, where)}
    if type_["type"] == "array":
        inner = {"element-id": ids.of_path((*path, "element")), "element-required": False}
        return {"type": "list", **inner, "element": _type(type_["elementType"], ids, (*path, "element"), where)}
    key, value = (ids.of_path((*path, name)) for name in ("key", "value"))
    return {
        "type": "map",
        "key-id": key,
        "key": _type(type_["keyType"], ids, (*path, "key"), where),
        "value-id": value,
        "value-required": False,
        "value": _type(type_["valueType"], ids, (*path, "value"), where),
    }


def _is_promotion(old: str, new: str) -> bool:
    """Whether Iceberg reads a file with the old type as the new type ("Schema Evolution")."""
    if old in _INTEGERS and new in _INTEGERS:
        return True
    decimals = _DECIMAL.fullmatch(old), _DECIMAL.fullmatch(new)
    if decimals[0] and decimals[1]:
        return decimals[0][2] == decimals[1][2]
    return (old, new) == ("float", "double")
