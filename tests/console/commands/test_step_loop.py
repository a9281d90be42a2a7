"""What a step of the capture service raises never ends the service, but for a JVM that is gone."""

from collections.abc import Callable

import pytest
from py4j.protocol import Py4JNetworkError

from tidemark.capture.operations.ingestion_report import IngestReport
from tidemark.console.commands.capture.step_loop import SparkGoneError, serve
from tidemark.delta.errors import KeyNotUniqueError
from tidemark.errors import TerminalError, TransientError

REPORT = IngestReport({}, {}, 0, (), (), (), 0.0)
ERRORS = (
    TransientError("Kafka does not answer"),
    TerminalError("something has to be changed"),
    KeyNotUniqueError("several rows have the same key"),
    ValueError("nobody foresaw it\nwith a second line"),
    KeyError("offset"),
)


def steps(errors: tuple[Exception, ...], after: list[IngestReport]) -> Callable[[], IngestReport]:
    """A step that raises one of `errors` after the other, and then succeeds."""
    left = list(errors)

    def step() -> IngestReport:
        if left:
            raise left.pop(0)
        after.append(REPORT)
        return REPORT

    return step


def test_whatever_a_step_raises_is_said_and_the_next_one_runs(capsys: pytest.CaptureFixture[str]) -> None:
    said: list[IngestReport] = []
    done: list[IngestReport] = []
    serve(steps(ERRORS, done), 0.01, said.append, lambda: bool(done))
    assert said == [REPORT]
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count("trying again in 0 s") == len(ERRORS)
    assert "a step failed unexpectedly: ValueError: nobody foresaw it" in printed
    assert "Traceback" not in printed


def test_a_jvm_that_is_gone_ends_the_service_with_words() -> None:
    done: list[IngestReport] = []
    with pytest.raises(SparkGoneError, match="start the service again"):
        serve(steps((Py4JNetworkError("Answer from Java side is empty"),), done), 0.01, done.append, lambda: False)


def test_the_service_beats_between_its_steps() -> None:
    done: list[IngestReport] = []
    beats: list[int] = []
    serve(steps(ERRORS[:1], done), 0.01, done.append, lambda: bool(done), lambda: beats.append(len(done)))
    assert len(beats) >= 2
    assert set(beats) == {0}
