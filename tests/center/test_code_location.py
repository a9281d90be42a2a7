"""Where the center finds the project's definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.center.code_location import CodeLocation, job_on_pages
from tidemark.center.errors import WorkspaceError

if TYPE_CHECKING:
    from pathlib import Path

GRPC = "load_from:\n  - grpc_server: {host: 127.0.0.1, port: 4266, location_name: other}\n"


@pytest.mark.parametrize(
    ("text", "content"), [(None, "the file does not exist"), (GRPC, "another kind of code location")]
)
def test_a_workspace_without_a_module_is_named(tmp_path: Path, text: str | None, content: str) -> None:
    workspace = tmp_path / "workspace.yaml"
    if text is not None:
        workspace.write_text(text)
    with pytest.raises(WorkspaceError, match="definitions cannot be loaded") as caught:
        CodeLocation.of_workspace(workspace)
    assert (caught.value.found, caught.value.where) == (content, str(workspace))


def test_a_jobs_place_on_the_pages_is_known_without_loading_it(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace.yaml"
    assert job_on_pages(workspace, "job") is None
    workspace.write_text("load_from: [{python_module: {module_name: not_there, location_name: shop}}]\n")
    origin = job_on_pages(workspace, "job")
    assert origin is not None
    assert (origin.job_name, origin.repository_origin.code_location_origin.location_name) == ("job", "shop")
