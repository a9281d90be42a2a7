"""Files whose row groups are larger than the memory outside of the heap are read."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_READ = """
import sys
from pathlib import Path
from tidemark.spark.session import spark_session
from tidemark.system.settings import Settings

folder = Path(sys.argv[1])
spark = spark_session(Settings.at(folder / "data"), {"spark.driver.extraJavaOptions": "-XX:MaxDirectMemorySize=24m"})
rows = spark.range(0, 600_000, numPartitions=1).selectExpr("id", "sha2(string(id), 256) AS text")
rows.write.parquet(str(folder / "rows"))
print(spark.read.parquet(str(folder / "rows")).selectExpr("sum(length(text))").collect()[0][0])
"""


@pytest.mark.long
@pytest.mark.spark
def test_a_row_group_larger_than_direct_memory_is_read(tmp_path: Path) -> None:
    """Hadoop's reads of ranges would wait for a thread that has died, for five minutes."""
    ran = subprocess.run(
        [sys.executable, "-c", _READ, str(tmp_path)], capture_output=True, text=True, timeout=240, check=False
    )
    assert ran.stdout.strip() == str(600_000 * 64), ran.stderr[-2000:]
    (written,) = (tmp_path / "rows").glob("*.parquet")
    assert written.stat().st_size > 24 * 2**20
