"""A Dagster home with warm workers for tests: runs are created as the center creates them, and waited for."""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg
import yaml
from dagster._core.code_pointer import CodePointer
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.origin import JobPythonOrigin

from tests.project import CHECKOUT
from tests.until import until
from tidemark.warm_runs.errors import WorkersDownError
from tidemark.warm_runs.host_socket import ask
from tidemark.warm_runs.worker_options import host_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LOCATION = "tests.warm_runs.location"


def write_home(home: Path, module: str = LOCATION, **options: Any) -> None:
    """A dagster.yaml that names the warm launcher."""
    home.mkdir(parents=True, exist_ok=True)
    config = {"modules": [module], "spark": False, **options}
    launcher = {"module": "tidemark.warm_runs.launcher", "class": "WarmRunLauncher", "config": config}
    given = {"run_launcher": launcher, "telemetry": {"enabled": False}, "nux": {"enabled": False}}
    (home / "dagster.yaml").write_text(yaml.safe_dump(given))


@dataclass
class WarmHome:
    """An instance, and the runs of one code location."""

    home: Path
    instance: dg.DagsterInstance
    module: str = LOCATION

    def create(self, *assets: str, tags: Mapping[str, str] | None = None) -> str:
        """A run of these assets that nobody has launched yet."""
        job = importlib.import_module(self.module).defs.resolve_implicit_global_asset_job_def()
        keys = frozenset(dg.AssetKey([name]) for name in assets)
        pointer = CodePointer.from_module(self.module, "defs", str(CHECKOUT))
        origin = JobPythonOrigin(job.name, ReconstructableRepository(pointer).get_python_origin())
        return self.instance.create_run_for_job(job, asset_selection=keys, job_code_origin=origin, tags=tags).run_id

    def launch(self, *assets: str) -> str:
        run_id = self.create(*assets)
        self.instance.launch_run(run_id, None)  # type: ignore[arg-type]  # no new process is to be started
        return run_id

    def status(self, run_id: str) -> str:
        run = self.instance.get_run_by_id(run_id)
        assert run is not None
        return run.status.value

    def ended(self, run_id: str) -> str:
        until(lambda: self.status(run_id) in ("SUCCESS", "FAILURE", "CANCELED"), f"end of {run_id}")
        return self.status(run_id)

    def messages(self, run_id: str) -> str:
        return "\n".join(entry.user_message or entry.message for entry in self.instance.all_logs(run_id))

    def warm_workers(self) -> dict[str, Any]:
        """The workers' figures; empty where there is no host."""
        try:
            return ask(host_folder(self.instance), {"do": "status"})
        except WorkersDownError:
            return {}

    def wait_until_ready(self, workers: int = 1) -> None:
        until(lambda: self.warm_workers().get("ready", 0) >= workers, f"{workers} workers that are ready")


@contextmanager
def warm_home(home: Path) -> Iterator[WarmHome]:
    with dg.DagsterInstance.from_config(str(home)) as instance:
        yield WarmHome(home, instance)
