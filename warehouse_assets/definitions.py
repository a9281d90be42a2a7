"""The code location that workspace.yaml names: what is declared below this folder, with its resources and sensors."""

import dagster as dg

from resources.definitions import resources
from sensors.definitions import sensors
from tidemark.dagster.definitions import warehouse_definitions
from tidemark.dagster.load_project import load_project


@dg.definitions
def definitions() -> dg.Definitions:
    """What `dagster dev` loads."""
    warehouse = load_project()
    return dg.Definitions.merge(
        warehouse_definitions(warehouse),
        dg.Definitions(resources=resources(warehouse.settings), sensors=sensors(warehouse)),
    )
