"""Where a server's clock is slow, against a model that asks for each offset by itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tidemark.capture.heartbeat.heartbeat_record import Beat
from tidemark.capture.heartbeat.slow_clock import is_slow, slow_spans
from tidemark.capture.planning.continuity_of_scan import BinlogOrder

MINUTE = 60_000


def test_a_server_that_is_ahead_or_a_little_behind_is_not_slow() -> None:
    now = 100 * MINUTE
    assert [is_slow(Beat(0, now, now - behind)) for behind in (-60 * MINUTE, 0, 2 * MINUTE, 2 * MINUTE + 1)] == [
        False,
        False,
        False,
        True,
    ]
    assert not is_slow(Beat(0, now))


@given(st.dictionaries(st.integers(0, 30), st.booleans(), max_size=8), st.booleans(), st.integers(0, 32))
def test_an_offset_is_judged_by_the_last_heartbeat_before_it(
    slow_at: dict[int, bool],
    before: bool,
    cut: int,
) -> None:
    beats = [Beat(offset, 60 * MINUTE, 0 if slow else 60 * MINUTE) for offset, slow in sorted(slow_at.items())]
    order = BinlogOrder(beats={"a": beats})
    spans = order.slow_spans({"a"} if before else ()).get("a", ())
    for offset in range(32):
        judged = [slow for at, slow in sorted(slow_at.items()) if at <= offset]
        inside = any(start <= offset and (end is None or offset < end) for start, end in spans)
        assert inside == (judged[-1] if judged else before), offset
    last = [slow for at, slow in sorted(slow_at.items()) if at < cut]
    assert order.is_behind_at("a", cut, before=before) == (last[-1] if last else before)
    assert slow_spans([], before=False) == []
