"""A code location, for creating runs: the job of its assets, and its address for other processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from tidemark.center.errors import WorkspaceError
from tidemark.dagster_internals.code_locations import (
    SINGLETON_REPOSITORY_NAME,
    CodePointer,
    GrpcServerCodeLocationOrigin,
    JobPythonOrigin,
    ReconstructableRepository,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
    loadable_targets_from_python_module,
)
from tidemark.dagster_internals.workspace import location_origins_from_yaml_paths
from tidemark.system.project_root import importable

if TYPE_CHECKING:
    from pathlib import Path

    import dagster as dg


@dataclass(frozen=True)
class CodeLocation:
    """`job` has all assets; `code` is what a worker loads, `remote` the name in the UI."""

    job: dg.JobDefinition
    code: JobPythonOrigin
    remote: RemoteJobOrigin

    @classmethod
    def of_workspace(cls, workspace: Path) -> Self:
        """The first location of a workspace.yaml, which must be a module.

        Raises WorkspaceError, and errors of the module.
        """
        importable(workspace.parent)
        if not workspace.is_file():
            raise _workspace_error("the file does not exist", workspace)
        location = location_origins_from_yaml_paths([str(workspace)])[0]
        target = None if isinstance(location, GrpcServerCodeLocationOrigin) else location.loadable_target_origin
        if target is None or target.module_name is None:
            raise _workspace_error("another kind of code location", workspace)
        (attribute,) = loadable_targets_from_python_module(target.module_name, target.working_directory)
        pointer = CodePointer.from_module(target.module_name, attribute.attribute, target.working_directory)
        recon = ReconstructableRepository(pointer)
        repository = recon.get_definition()
        job = repository.get_implicit_global_asset_job_def()
        return cls(
            job,
            JobPythonOrigin(job.name, recon.get_python_origin()),
            RemoteJobOrigin(RemoteRepositoryOrigin(location, repository.name), job.name),
        )


def job_on_pages(workspace: Path, job_name: str) -> RemoteJobOrigin | None:
    """The location under which Dagster's pages show runs of a job, without loading it; None without a workspace."""
    if not workspace.is_file():
        return None
    location = location_origins_from_yaml_paths([str(workspace)])[0]
    return RemoteJobOrigin(RemoteRepositoryOrigin(location, SINGLETON_REPOSITORY_NAME), job_name)


def _workspace_error(content: str, workspace: Path) -> WorkspaceError:
    return WorkspaceError(
        "the project's definitions cannot be loaded",
        expected="a python_module as the first entry of `load_from`",
        found=content,
        where=str(workspace),
        hint="`tidemark init` writes a workspace.yaml beside tidemark.yaml; use that file",
    )
