"""The declarations of this project fit together. Add tests of your own tables here."""

from tidemark.dagster.load_project import load_project


def test_every_dependency_can_be_met() -> None:
    assert not load_project().graph.problems()
