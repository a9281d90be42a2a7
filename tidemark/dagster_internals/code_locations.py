"""The place of a run's code as Dagster stores it, and loading it from there."""

from dagster._core.code_pointer import CodePointer, ModuleCodePointer
from dagster._core.definitions.reconstruct import (
    ReconstructableRepository,
    reconstruct_repository_def_from_pointer,
)
from dagster._core.definitions.repository_definition import SINGLETON_REPOSITORY_NAME
from dagster._core.origin import JobPythonOrigin
from dagster._core.remote_origin import GrpcServerCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin
from dagster._core.workspace.autodiscovery import loadable_targets_from_python_module
from dagster._utils.hosted_user_process import recon_job_from_origin

__all__ = [
    "SINGLETON_REPOSITORY_NAME",
    "CodePointer",
    "GrpcServerCodeLocationOrigin",
    "JobPythonOrigin",
    "ModuleCodePointer",
    "ReconstructableRepository",
    "RemoteJobOrigin",
    "RemoteRepositoryOrigin",
    "loadable_targets_from_python_module",
    "recon_job_from_origin",
    "reconstruct_repository_def_from_pointer",
]
