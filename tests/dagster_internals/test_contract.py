"""Every private name of Dagster that Tidemark uses is listed here, and is there in this version as it is called."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
from pathlib import Path

import dagster as dg
import pytest
from dagster_postgres import PostgresEventLogStorage, PostgresRunStorage
from dagster_postgres.utils import create_pg_engine

from tidemark import dagster_internals
from tidemark.dagster_internals.execution import create_execution_plan, execute_run_iterator

ROOM = Path(dagster_internals.__file__).parent
PRIVATE = {
    "dagster._cli.proxy_server_manager": {"ProxyServerManager"},
    "dagster._core.code_pointer": {"CodePointer", "ModuleCodePointer"},
    "dagster._core.definitions.asset_checks.asset_check_evaluation": {"AssetCheckEvaluationTargetMaterializationData"},
    "dagster._config.pythonic_config.resource": {"ConfigurableResourceFactoryResourceDefinition"},
    "dagster._core.definitions.definition_config_schema": {
        *("ConfiguredDefinitionConfigSchema", "DefinitionConfigSchema"),
    },
    "dagster._core.execution.context.system": {"PlanOrchestrationContext"},
    "dagster._core.execution.plan.plan": {"ExecutionPlan"},
    "dagster._core.execution.retries": {"RetryMode"},
    "dagster._core.executor.in_process": {"InProcessExecutor"},
    "dagster._utils.cached_method": {"cached_method"},
    "dagster._core.definitions.job_base": {"IJob", "InMemoryJob"},
    "dagster._core.definitions.reconstruct": {"ReconstructableRepository", "reconstruct_repository_def_from_pointer"},
    "dagster._core.errors": {"DagsterExecutionInterruptedError", "DagsterRunAlreadyExists"},
    "dagster._core.event_api": {"PartitionKeyFilter"},
    "dagster._core.events": {"DagsterEvent", "DagsterEventType", "EngineEventData"},
    "dagster._core.execution.api": {"create_execution_plan", "execute_run_iterator"},
    "dagster._core.execution.backfill": {"BulkActionStatus", "BulkActionsFilter", "PartitionBackfill"},
    "dagster._core.execution.compute_logs": {"redirect_to_file"},
    "dagster._core.instance.ref": {"InstanceRef"},
    "dagster._core.launcher.base": {"CheckRunHealthResult", "LaunchRunContext", "RunLauncher", "WorkerStatus"},
    "dagster._core.run_coordinator.base": {"SubmitRunContext"},
    "dagster._core.run_coordinator.queued_run_coordinator": {"RunQueueConfig"},
    "dagster._core.definitions.repository_definition": {"SINGLETON_REPOSITORY_NAME"},
    "dagster._core.origin": {"JobPythonOrigin"},
    "dagster._core.remote_origin": {"GrpcServerCodeLocationOrigin", "RemoteJobOrigin", "RemoteRepositoryOrigin"},
    "dagster._core.snap": {"snapshot_from_execution_plan"},
    "dagster._core.storage.db_io_manager": {"DbIOManager"},
    "dagster._core.storage.compute_log_manager": {"CapturedLogContext", "ComputeIOType"},
    "dagster._core.storage.local_compute_log_manager": {"IO_TYPE_EXTENSION", "LocalComputeLogManager"},
    "dagster._core.storage.event_log": {"SqliteEventLogStorage", "SqlEventLogStorage", "SqlEventLogStorageTable"},
    "dagster._core.storage.event_log.schema": {"AssetCheckExecutionsTable", "AssetEventTagsTable"},
    "dagster._core.storage.runs": {"SqlRunStorage"},
    "dagster._core.storage.runs.schema": {"RunsTable"},
    "dagster._core.storage.tags": {"GRPC_INFO_TAG"},
    "dagster._core.workspace.autodiscovery": {"loadable_targets_from_python_module"},
    "dagster._core.workspace.context": {"WorkspaceProcessContext"},
    "dagster._core.workspace.load_target": {"WorkspaceFileTarget"},
    "dagster._core.workspace.load": {"location_origins_from_yaml_paths"},
    "dagster._record": {"replace"},
    "dagster._serdes": {"ConfigurableClass", "ConfigurableClassData", "deserialize_value"},
    "dagster._utils.error": {"serializable_error_info_from_exc_info"},
    "dagster._utils.hosted_user_process": {"recon_job_from_origin"},
    "dagster._utils.interrupts": {"capture_interrupts", "pop_captured_interrupt"},
}


def is_private(module: str) -> bool:
    """A module below one of Dagster's packages with an underscore in front of its name."""
    package, *parts = module.split(".")
    return package.startswith("dagster") and any(part.startswith("_") for part in parts)


def private_imports(file: Path) -> dict[str, set[str]]:
    """The private modules that a file imports, with the names that it takes from each."""
    taken: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = {alias.name for alias in node.names}
            hidden = {name for name in names if is_private(node.module) or is_private(f"{node.module}.{name}")}
            if hidden:
                taken.setdefault(node.module, set()).update(hidden)
        elif isinstance(node, ast.Import):
            taken.update({alias.name: set() for alias in node.names if is_private(alias.name)})
    return taken


def test_the_list_equals_the_imports_of_the_adapter() -> None:
    taken: dict[str, set[str]] = {}
    for file in ROOM.glob("*.py"):
        for module, names in private_imports(file).items():
            taken.setdefault(module, set()).update(names)
    assert taken == PRIVATE


@pytest.mark.slow
def test_nothing_else_of_the_engine_or_of_the_project_imports_private_modules() -> None:
    root, folders = ROOM.parents[1], ("tidemark", "warehouse_assets", "sensors", "resources")
    files = [file for name in folders for file in root.glob(f"{name}/**/*.py") if ROOM not in file.parents]
    assert len(files) > 100
    assert {str(file): taken for file in files if (taken := private_imports(file))} == {}


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in PRIVATE.items() for name in names])
def test_each_name_is_there(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name)


def test_private_imports_are_seen_in_every_form(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(
        "import dagster._core.x\nfrom dagster import _utils, Field\nif 1:\n    from dagster_pg._y import z\n"
    )
    assert private_imports(file) == {"dagster._core.x": set(), "dagster": {"_utils"}, "dagster_pg._y": {"z"}}


@pytest.mark.parametrize("storage", [PostgresRunStorage, PostgresEventLogStorage])
def test_storages_on_postgresql_have_the_attributes_that_keep_connections_replaces(storage: type) -> None:
    # inspect.getsource parses the class: in Python 3.11 it can fail while another thread parses (SystemError).
    text = Path(inspect.getfile(storage)).read_text()
    assert "self._engine = create_pg_engine(" in text
    assert "self._token_provider" in text
    assert {"isolation_level", "pool_size"}.isdisjoint(inspect.signature(create_pg_engine).parameters)


def test_functions_accept_their_arguments() -> None:
    create_run = inspect.signature(dg.DagsterInstance.create_run).parameters
    assert set(create_run) - {"self"} == {
        *("job_name", "run_id", "run_config", "status", "tags", "root_run_id", "parent_run_id", "step_keys_to_execute"),
        *("execution_plan_snapshot", "job_snapshot", "parent_job_snapshot", "asset_selection", "asset_check_selection"),
        *("resolved_op_selection", "op_selection", "remote_job_origin", "job_code_origin", "asset_graph"),
    }
    assert {"run_id", "run_config", "tags", "asset_selection"} <= set(
        inspect.signature(dg.DagsterInstance.create_run_for_job).parameters
    )
    assert list(inspect.signature(execute_run_iterator).parameters)[:3] == ["job", "dagster_run", "instance"]
    assert "tags" in inspect.signature(create_execution_plan).parameters


def test_the_manager_of_local_logs_has_the_method_that_is_replaced() -> None:
    from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager

    assert list(inspect.signature(LocalComputeLogManager.capture_logs).parameters) == ["self", "log_key"]
    assert callable(LocalComputeLogManager.get_captured_local_path)


def test_serving_starts_the_installed_server() -> None:
    from tidemark.dagster_internals.serving import DAEMON_MODULE, WorkspaceProcessContext

    assert importlib.util.find_spec(f"{DAEMON_MODULE}.__main__") is not None
    assert list(inspect.signature(WorkspaceProcessContext).parameters)[:3] == [
        *("instance", "workspace_load_target", "version"),
    ]
