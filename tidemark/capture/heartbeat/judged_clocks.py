"""Decides which clock is wrong if a heartbeat's two times differ: the writer's or the server's.

A round of heartbeats is one time that one process writes into every instance. Each server adds its own time. If all
servers of a round are behind, the writer is ahead, and the servers' times are used. If only some are behind, their
clocks are slow (slow_clock), and the writer's time is right. A single server proves neither, so no slice ends before
both clocks have passed its end.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidemark.capture.heartbeat.heartbeat_record import Beat
from tidemark.capture.heartbeat.trusted_times import MINUTE_MS, TOLERANCE_MS

Beats = Mapping[str, Sequence[Beat]]


@dataclass(frozen=True)
class JudgedClocks:
    """`beats` are each instance's heartbeats with the times to believe, `closing` with the times that end slices.

    `findings` are texts about clocks that differ.
    """

    beats: Mapping[str, list[Beat]]
    closing: Mapping[str, list[Beat]]
    findings: tuple[str, ...]


def judge_clocks(beats: Beats, tolerance_ms: int = TOLERANCE_MS) -> JudgedClocks:
    """Judge each round of a pass by itself. After a clock jumps, only the rounds after the jump are wrong."""
    rounds: dict[int, dict[str, int]] = defaultdict(dict)
    for instance, mine in beats.items():
        for beat in mine:
            if beat.server_ms is not None:
                rounds[beat.beat_ms][instance] = beat.beat_ms - beat.server_ms
    ahead = {at for at, skews in rounds.items() if min(skews.values()) > tolerance_ms}
    proven = {at for at in ahead if len(rounds[at]) > 1}
    return JudgedClocks(
        beats={instance: [_by_server(beat, proven) for beat in mine] for instance, mine in beats.items()},
        closing={instance: [_by_server(beat, ahead) for beat in mine] for instance, mine in beats.items()},
        findings=tuple(_findings(rounds, ahead, tolerance_ms)),
    )


def _by_server(beat: Beat, ahead: set[int]) -> Beat:
    if beat.server_ms is None or beat.beat_ms not in ahead:
        return beat
    return beat._replace(beat_ms=min(beat.beat_ms, beat.server_ms))


def _findings(rounds: Mapping[int, Mapping[str, int]], ahead: set[int], tolerance_ms: int) -> list[str]:
    if not rounds:
        return []
    findings = []
    if ahead:
        at = max(ahead)
        who = ", ".join(sorted(rounds[at]))
        what = f"the clock of the heartbeats' writer is {_minutes(min(rounds[at].values()))} ahead of {who}"
        sure = "the servers' own clocks are used" if len(rounds[at]) > 1 else "no slice ends before both have passed"
        findings.append(f"{what}: {sure}")
    newest = {name: skew for at in sorted(rounds) if at not in ahead for name, skew in rounds[at].items()}
    for name, skew in sorted(newest.items()):
        if abs(skew) > tolerance_ms:
            direction = "behind" if skew > 0 else "ahead of"
            findings.append(f"the clock of instance {name} is {_minutes(abs(skew))} {direction} the heartbeats' writer")
    return findings


def _minutes(duration_ms: int) -> str:
    return f"{duration_ms // MINUTE_MS} min"
