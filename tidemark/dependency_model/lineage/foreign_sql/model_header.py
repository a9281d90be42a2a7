"""`MODEL (name .., kind ..);` before a query of SQLMesh: the YAML beside the query says that here."""

from __future__ import annotations

import re
from typing import Final

from tidemark.dependency_model.lineage.sql_text import code_of, leave_out

_MODEL: Final = re.compile(r"\s*MODEL\s*\([^;]*\)\s*;", re.IGNORECASE)


def without_model_header(text: str) -> str:
    """The text with spaces for the header."""
    header = _MODEL.match(code_of(text))
    return leave_out(text, 0, header.end()) if header else text
