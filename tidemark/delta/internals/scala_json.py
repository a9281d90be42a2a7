"""Converts Scala values to Python in one call; a call for each field would cost more than the work."""

import json
from typing import Any

from tidemark.delta.internals.contract import DELTA
from tidemark.spark.internals import Jvm


def python_of(jvm: Jvm, value: Any) -> Any:
    """The value through Delta's own JSON: case classes as the log writes them."""
    mapper = jvm.scala_object(f"{DELTA}.util.JsonUtils").mapper()
    return json.loads(str(mapper.writeValueAsString(value)))
