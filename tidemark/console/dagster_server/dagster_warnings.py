"""Dagster's warnings for programmers about its newest features."""

from __future__ import annotations

import warnings

import dagster as dg


def hide_notices() -> None:
    """Hide warnings that new features of Dagster may change: the lock file fixes the version."""
    for kind in (dg.BetaWarning, dg.PreviewWarning):
        warnings.filterwarnings("ignore", category=kind)
