"""A writer's clock and the servers' clocks: the clock that the others confirm is trusted."""

from hypothesis import given
from hypothesis import strategies as st

from tidemark.capture.heartbeat.heartbeat_record import Beat
from tidemark.capture.heartbeat.judged_clocks import judge_clocks

MINUTE = 60_000
HOUR = 60 * MINUTE
NOW = 1000 * HOUR


def beat(offset: int, writer: int, server: int) -> Beat:
    return Beat(offset, NOW + writer, NOW + server)


def test_a_writer_that_is_ahead_of_every_server_is_not_believed() -> None:
    judged = judge_clocks({"a": [beat(1, HOUR, 0)], "b": [beat(5, HOUR, MINUTE)]})
    assert judged.beats == judged.closing == {"a": [beat(1, 0, 0)], "b": [beat(5, MINUTE, MINUTE)]}
    assert judged.findings == (
        "the clock of the heartbeats' writer is 59 min ahead of a, b: the servers' own clocks are used",
    )


def test_a_server_behind_the_others_is_slow() -> None:
    beats = {"a": [beat(1, HOUR, 0)], "b": [beat(5, HOUR, HOUR)]}
    judged = judge_clocks(beats)
    assert judged.beats == judged.closing == beats
    assert judged.findings == ("the clock of instance a is 60 min behind the heartbeats' writer",)


def test_one_server_alone_proves_nothing_and_no_slice_ends_early() -> None:
    beats = {"a": [beat(1, HOUR, 0)]}
    judged = judge_clocks(beats)
    assert (judged.beats, judged.closing) == (beats, {"a": [beat(1, 0, 0)]})
    assert judged.findings == (
        "the clock of the heartbeats' writer is 60 min ahead of a: no slice ends before both have passed",
    )


def test_a_jump_is_judged_round_by_round() -> None:
    rounds = [beat(1, 0, 0), beat(2, HOUR + MINUTE, MINUTE), beat(3, 2 * MINUTE, 2 * MINUTE)]
    judged = judge_clocks({"a": rounds, "b": rounds})
    assert judged.beats["a"] == [beat(1, 0, 0), beat(2, MINUTE, MINUTE), beat(3, 2 * MINUTE, 2 * MINUTE)]


def test_servers_that_are_ahead_change_nothing() -> None:
    beats = {"a": [beat(1, 0, HOUR)], "b": [beat(1, 0, HOUR)]}
    judged = judge_clocks(beats)
    assert judged.beats == judged.closing == beats
    assert len(judged.findings) == 2


@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=4)))
def test_no_heartbeat_is_ever_later_than_its_writer_said(times: dict[str, list[tuple[int, int]]]) -> None:
    beats = {
        name: [beat(offset, writer * HOUR, server * HOUR // 3) for offset, (writer, server) in enumerate(mine)]
        for name, mine in times.items()
    }
    judged = judge_clocks(beats)
    for name, mine in beats.items():
        for given_beat, believed, closing in zip(mine, judged.beats[name], judged.closing[name], strict=True):
            assert closing.beat_ms <= believed.beat_ms <= given_beat.beat_ms
