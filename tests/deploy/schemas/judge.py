"""Documents judged by Kubernetes' own schemas: unknown fields, wrong types and what is missing are told."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

from tests.deploy.schemas.extract import TARGET

if TYPE_CHECKING:
    from collections.abc import Mapping

_GROUP: Final = "x-kubernetes-group-version-kind"
_NUMBER_OR_TEXT: Final = (
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
)


def problems(document: Mapping[str, Any]) -> list[str]:
    """What is wrong with one document, a line each: where, and what."""
    kind = (document.get("apiVersion"), document.get("kind"))
    name = _names_by_kind().get(kind)
    if name is None:
        return [f"no schema of {kind[1]} in {kind[0]}"]
    schema = {"$ref": f"#/definitions/{name}", "definitions": _definitions()}
    errors = sorted(Draft202012Validator(schema).iter_errors(document), key=lambda error: list(map(str, error.path)))
    return [f"{'.'.join(map(str, error.absolute_path)) or 'document'}: {error.message}" for error in errors]


@functools.cache
def _definitions() -> dict[str, Any]:
    """As JSON Schema that refuses what it does not name, as the API server does where it is asked to be strict."""
    given: dict[str, Any] = json.loads(TARGET.read_text(encoding="utf-8"))["definitions"]
    strict = {name: _strict(schema) for name, schema in given.items()}
    # Swagger has no word for them: the API takes `80`, `"http"`, `0.5` and `"500m"`.
    return {**strict, **{name: {"type": ["integer", "string", "number"]} for name in _NUMBER_OR_TEXT}}


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _strict(part) for key, part in schema.items()}
    return (
        {**made, "additionalProperties": False} if "properties" in schema and schema.get("type") == "object" else made
    )


@functools.cache
def _names_by_kind() -> dict[tuple[Any, Any], str]:
    """The definition of each kind: of those the API serves, the version in use."""
    given = json.loads(TARGET.read_text(encoding="utf-8"))["definitions"]
    return {
        (f"{kind['group']}/{kind['version']}" if kind["group"] else kind["version"], kind["kind"]): name
        for name, schema in given.items()
        for kind in schema.get(_GROUP, ())
    }
