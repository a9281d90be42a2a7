"""Errors that mean that a store does not answer now: no event is at fault, and everything is repeated."""

from __future__ import annotations

from typing import Final

import psycopg2
from dagster_postgres.utils import DagsterPostgresException
from sqlalchemy.exc import DBAPIError

from tidemark.errors import TransientError

# The driver's own errors too: errors while a connection is returned are not wrapped.
STORAGE_ERRORS: Final = (DBAPIError, DagsterPostgresException, psycopg2.Error)
"""The drivers' classes for this."""
OUTAGES: Final = (TransientError, *STORAGE_ERRORS)
