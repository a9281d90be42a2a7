"""Names of tables that Tidemark itself writes into the lake. Entities must not have them."""

from __future__ import annotations

from typing import Final

from tidemark.delta.iceberg_metadata import ICEBERG_FOLDER

RESULTS_TABLE: Final = "quality_results"
"""Results of rules (`tidemark quality --to-lake`)."""
SLICES_TABLE: Final = "_slices"
"""The existing slices, for other engines."""
RESERVED: Final = frozenset({RESULTS_TABLE, SLICES_TABLE, ICEBERG_FOLDER})
