"""Baselines of a project (seed capability A9): run history, open slices, and promises."""

from tidemark.center.baseline.baselines import Baseline, Baselines, PathStep
from tidemark.center.baseline.center_forecast import CenterForecast, JudgedPromises
from tidemark.center.baseline.run_history import RunHistory

__all__ = ["Baseline", "Baselines", "CenterForecast", "JudgedPromises", "PathStep", "RunHistory"]
