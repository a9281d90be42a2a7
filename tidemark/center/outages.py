"""What says that a store does not answer now: nobody's event is at fault, and everything goes again."""

from __future__ import annotations

from typing import Final

import psycopg2
from dagster_postgres.utils import DagsterPostgresException
from sqlalchemy.exc import DBAPIError

from tidemark.errors import TransientError

# The driver's own too: what fails while a connection is given back is not wrapped.
STORAGE_ERRORS: Final = (DBAPIError, DagsterPostgresException, psycopg2.Error)
"""The drivers' words for it."""
OUTAGES: Final = (TransientError, *STORAGE_ERRORS)
