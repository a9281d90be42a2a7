"""What the center raises alerts for: promises at risk (A9) and broken rules; beside its tick, under its lease."""

from tidemark.center.alerts.alert_watch import AlertWatch

__all__ = ["AlertWatch"]
