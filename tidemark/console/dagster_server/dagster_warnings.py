"""What Dagster tells programmers about its newest parts."""

from __future__ import annotations

import warnings

import dagster as dg


def hide_notices() -> None:
    """Dagster tells whoever uses its newest parts that they may change: the lock file says which version is used."""
    for kind in (dg.BetaWarning, dg.PreviewWarning):
        warnings.filterwarnings("ignore", category=kind)
