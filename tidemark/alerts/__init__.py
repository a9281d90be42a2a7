"""Alerts: one message for each cause of trouble, and one when it is over, on the channels that people choose.

A source reports all present causes (`AlertBook.reconcile`). A new cause raises an alert, a present one is not sent
again, and a cause that is gone has recovered. Messages are stored with the alert, and a courier sends them later: at
least once, and twice only if a process dies or a receiver does not answer in between.
"""

from tidemark.alerts.alert import Alert, AlertEvent, AlertKind, Trouble
from tidemark.alerts.alert_book import AlertBook

__all__ = ["Alert", "AlertBook", "AlertEvent", "AlertKind", "Trouble"]
