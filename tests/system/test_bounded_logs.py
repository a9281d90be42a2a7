"""A log with an active writer stays small, and its newest lines are kept."""

from pathlib import Path

from tidemark.system.bounded_logs import bound_log


def test_a_log_that_has_grown_is_emptied_and_appended_to(tmp_path: Path) -> None:
    log = tmp_path / "workers.log"
    with log.open("ab", buffering=0) as writer:
        for number in range(100):
            writer.write(f"line {number:04}\n".encode())
        assert bound_log(log, 500)
        writer.write(b"after\n")
    assert log.read_text() == "after\n"
    kept = (tmp_path / "workers.log.1").read_text()
    assert len(kept) == 250
    assert kept.endswith("line 0099\n")
    assert not bound_log(log, 500)


def test_a_log_that_is_not_there_is_left(tmp_path: Path) -> None:
    assert not bound_log(tmp_path / "none.log")
