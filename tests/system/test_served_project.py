"""One `tidemark up` a project: who serves it is known as long as its process lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tidemark.console.main import main
from tidemark.system.errors import ServedAlreadyError
from tidemark.system.served_project import runs_url, serve_alone, served_at
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def test_the_serving_process_is_known_until_its_end(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path)
    home = settings.dagster_home
    assert served_at(home) is None
    with serve_alone(home, "http://127.0.0.1:3000"):
        assert served_at(home) is not None
        assert runs_url(settings) == "http://127.0.0.1:3000/runs/"
        with (
            pytest.raises(ServedAlreadyError, match=r"http://127\.0\.0\.1:3000, process"),
            serve_alone(home, "http://b"),
        ):
            pass
    assert served_at(home) is None
    assert runs_url(settings) == ""


@pytest.mark.parametrize("said", ["", "[]", "{", '{"url": 1}'])
def test_an_empty_file_is_not_an_address(said: str, tmp_path: Path) -> None:
    with serve_alone(tmp_path, "http://a"):
        (tmp_path / "up.json").write_text(said)
        assert served_at(tmp_path) is None
        with pytest.raises(ServedAlreadyError), serve_alone(tmp_path, "http://b"):
            pass


def test_a_second_up_is_refused_with_the_address_of_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with serve_alone(tmp_path, "http://127.0.0.1:3777"):
        called = CliRunner().invoke(main, ["up", "--port", "0"])
    assert called.exit_code == 1
    assert "another `tidemark up` serves this project" in called.output
    assert "http://127.0.0.1:3777" in called.output
