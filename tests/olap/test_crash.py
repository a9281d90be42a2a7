"""A publisher killed at any moment leaves the old partition or the new one, and the next replay the new one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.olap.examples import DAY, gmv, rows

if TYPE_CHECKING:
    from tests.olap.conftest import StoreTarget
    from tidemark.olap import OlapStore

_PUBLISH = """
import sys
from pathlib import Path
from tidemark.olap import open_store
from tests.olap.examples import DAY, gmv
setting, data, table, *amounts = sys.argv[1:]
open_store(setting, Path(data)).publish(table, gmv(*amounts), {"dt": DAY})
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "survivor"),
    [
        pytest.param("olap.after_delete", ("1.00", "2.00"), marks=pytest.mark.long),
        pytest.param("olap.after_insert", ("1.00", "2.00"), marks=pytest.mark.long),
        ("olap.before_commit", ("1.00", "2.00")),
        ("olap.after_commit", ("7.00",)),
    ],
)
def test_a_killed_publisher(store: OlapStore, target: StoreTarget, point: str, survivor: tuple[str, ...]) -> None:
    store.publish(target.table, gmv("1.00", "2.00"), {"dt": DAY})

    killed = subprocess.run(
        [sys.executable, "-c", _PUBLISH, target.setting, str(target.data), target.table, "7.00"],
        env={**os.environ, "TIDEMARK_CRASH_AT": point},
        check=False,
        timeout=60,
    )

    assert killed.returncode == -signal.SIGKILL
    assert rows(store.read(target.table, {"dt": DAY}), "gmv") == rows(gmv(*survivor), "gmv")
    store.publish(target.table, gmv("7.00"), {"dt": DAY})
    assert rows(store.read(target.table, {}), "gmv") == rows(gmv("7.00"), "gmv")
