"""The project of this process, as its code location needs it."""

from tidemark.capture.operations.preflight.all_checks import REFUSED, declaration_findings
from tidemark.system.check_finding import require_no_problem
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import Warehouse, load_warehouse


def load_project() -> Warehouse:
    """What the project declares; the environment is read here and nowhere further in.

    Raises SettingsError, EntityErrors, and PreflightError for what can be told without asking Kafka or a database: a
    code location is loaded often.
    """
    settings = Settings.load()
    warehouse = load_warehouse(settings)
    require_no_problem(declaration_findings(settings, warehouse.source_tables()), REFUSED)
    return warehouse
