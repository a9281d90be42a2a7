"""The configuration of an op, of plain values: Dagster's own would take the name of a variable for each of them."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import dagster as dg
from pydantic import BaseModel, ConfigDict


class PlainConfig(BaseModel):
    """Derive from it; `config_schema=schema_of(...)` of an op, and `model_validate(context.op_config)` within it."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def schema_of(config: type[PlainConfig]) -> dict[str, dg.Field]:
    """Dagster's schema of the fields, for its launchpad: texts are texts."""
    return {
        name: dg.Field(
            _type_of(field.annotation),
            is_required=field.is_required(),
            description=field.description,
            **({} if field.is_required() else {"default_value": field.default}),
        )
        for name, field in config.model_fields.items()
    }


def _type_of(annotation: Any) -> Any:
    if get_origin(annotation) is Literal:
        return str
    if get_origin(annotation) is list:
        return [_type_of(*get_args(annotation))]
    if type(None) in get_args(annotation):
        (inner,) = (kind for kind in get_args(annotation) if kind is not type(None))
        return dg.Noneable(_type_of(inner))
    return annotation
