"""The configuration of an op as plain values. In Dagster's own form, each could be the name of a variable."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import dagster as dg
from pydantic import BaseModel, ConfigDict


class PlainConfig(BaseModel):
    """The base of an op's configuration.

    Use `config_schema=schema_of(...)`, and `model_validate(context.op_config)` in it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


def schema_of(config: type[PlainConfig]) -> dict[str, dg.Field]:
    """Dagster's schema of the fields, for its launchpad. A text cannot be a variable's name."""
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
