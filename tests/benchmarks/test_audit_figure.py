"""The audit's figure in small: every planted difference is found while rows change, and nothing else is."""

from argparse import Namespace

import pytest

from benchmarks import audit
from tests.components.availability import KAFKA, MARIADB, require


@pytest.mark.spark
@pytest.mark.components
@pytest.mark.long
def test_all_that_was_planted_is_found_and_nothing_else() -> None:
    require(MARIADB)
    require(KAFKA)
    figure = audit.measure(Namespace(rows=40_000, planted=40, rate=50, share=0.5, alone=1.0))
    assert (figure["planted"], figure["found"], figure["false_alarms"]) == (40, 40, 0)
    assert figure["changes"] > 0
