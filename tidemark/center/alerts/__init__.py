"""Alerts of the center beside its tick: promises at risk (A9), failed rules, anomalies (C9)."""

from tidemark.center.alerts.alert_watch import AlertWatch

__all__ = ["AlertWatch"]
