"""Loads this process's project for its code location."""

from tidemark.capture.operations.preflight.all_checks import REFUSED, declaration_findings
from tidemark.system.check_finding import require_no_problem
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import Warehouse, load_warehouse


def load_project() -> Warehouse:
    """The project's declarations. The environment is read only here.

    Raises SettingsError, EntityErrors, and PreflightError for problems that need no query to Kafka or a database,
    because a code location is loaded often.
    """
    settings = Settings.load()
    warehouse = load_warehouse(settings)
    require_no_problem(declaration_findings(settings, warehouse.source_tables()), REFUSED)
    return warehouse
