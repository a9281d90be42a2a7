"""Seeded kills of a worker, of the store and of the driver, over capture, slices, repair and vacuum, on both at once.

`TIDEMARK_SEED=7 pytest -n 0 tests/scale_out/test_injections.py` is another run.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from tests.scale_out.injections import STEPS, Injector
from tests.scale_out.laboratory import VICTIMS, laboratory

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.timeout(5_400)]

TIMES: Final = 5
"""Injections of each victim in each step: sixty in all."""
SEED: Final = 22


def test_nothing_is_lost_doubled_or_torn(tmp_path: Path) -> None:
    seed, times = int(os.environ.get("TIDEMARK_SEED", SEED)), int(os.environ.get("TIDEMARK_TIMES", TIMES))
    began = time.monotonic()
    with laboratory(tmp_path) as lab:
        injector = Injector(lab, seed, times)
        injector.run()
        counted = Counter((injection.step, injection.victim) for injection in injector.done)
        print(dict(counted), f"seed {seed}, {time.monotonic() - began:.0f} s, {lab.driver.lives} drivers")
        lab.driver.end()
        lab.require_no_application()
    assert counted == {(step, victim): times for step in STEPS for victim in VICTIMS}
