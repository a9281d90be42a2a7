"""One process at a time, and a dead one holds nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.system.errors import AlreadyRunningError
from tidemark.system.file_lock import only_one

HOLDER = """
import sys, time
from pathlib import Path
from tidemark.system.file_lock import only_one
with only_one(Path(sys.argv[1]), "it"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_second_is_refused_and_goes_on_when_the_first_is_dead(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "it.lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(AlreadyRunningError, match="another process is at it"), only_one(path, "it"):
            pytest.fail("the lock was given twice")
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait(timeout=30)
    with only_one(path, "it"):
        assert path.exists()
