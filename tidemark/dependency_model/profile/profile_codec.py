"""Profiles as bytes and back: compressed JSON with sketches in base64."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

from tidemark.dependency_model.profile.slice_profile import ColumnKind, ColumnProfile, SliceProfile
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping


def encode_profile(profile: SliceProfile) -> bytes:
    """A few hundred bytes and the sketches."""
    columns = [
        [
            column.name,
            column.kind.value,
            column.values,
            column.minimum,
            column.maximum,
            *(_text(sketch) for sketch in (column.distinct, column.quantiles, column.frequent)),
        ]
        for column in profile.columns
    ]
    return zlib.compress(json_text({"rows": profile.rows, "columns": columns}).encode(), 6)


def decode_profile(encoded: bytes) -> SliceProfile:
    """The inverse of `encode_profile`."""
    data: Mapping[str, Any] = json.loads(zlib.decompress(encoded))
    columns = (
        ColumnProfile(name, ColumnKind(kind), values, low, high, *map(_bytes, sketches))
        for name, kind, values, low, high, *sketches in data["columns"]
    )
    return SliceProfile(data["rows"], tuple(columns))


def _text(sketch: bytes | None) -> str | None:
    return None if sketch is None else base64.b64encode(sketch).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
