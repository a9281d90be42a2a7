"""Where the center finds the project's definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.center.code_location import CodeLocation
from tidemark.center.errors import WorkspaceError

if TYPE_CHECKING:
    from pathlib import Path

GRPC = "load_from:\n  - grpc_server: {host: 127.0.0.1, port: 4266, location_name: other}\n"


@pytest.mark.parametrize(("text", "content"), [(None, "no such file"), (GRPC, "another kind of code location")])
def test_a_workspace_without_a_module_is_named(tmp_path: Path, text: str | None, content: str) -> None:
    workspace = tmp_path / "workspace.yaml"
    if text is not None:
        workspace.write_text(text)
    with pytest.raises(WorkspaceError, match="definitions cannot be loaded") as caught:
        CodeLocation.of_workspace(workspace)
    assert (caught.value.found, caught.value.where) == (content, str(workspace))
