"""Names of tables that Tidemark itself writes into the lake: no entity may have them."""

from __future__ import annotations

from typing import Final

RESULTS_TABLE: Final = "quality_results"
"""What rules said (`tidemark quality --to-lake`)."""
SLICES_TABLE: Final = "_slices"
"""Which slices there are, for other engines."""
RESERVED: Final = frozenset({RESULTS_TABLE, SLICES_TABLE})
