"""Alerts: people are told once of each cause of trouble, and once when it is over, on the channels of their choice.

Who finds trouble out tells all the causes that there are now (`AlertBook.reconcile`): a new one is raised, one that is
still there is not told again, one that is gone has recovered. What is to be told is written with the alert and sent
later by a courier: at least once, and twice only where a process dies, or a receiver does not answer, in between.
"""

from tidemark.alerts.alert import Alert, AlertEvent, AlertKind, Trouble
from tidemark.alerts.alert_book import AlertBook

__all__ = ["Alert", "AlertBook", "AlertEvent", "AlertKind", "Trouble"]
