"""What the center raises alerts for: promises at risk (A9), broken rules, anomalies (C9); beside its tick."""

from tidemark.center.alerts.alert_watch import AlertWatch

__all__ = ["AlertWatch"]
