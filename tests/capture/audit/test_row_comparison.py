"""Never a row that is only on its way, always one that stays different: a model of a source, its log and a lake."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tidemark.capture.audit.deleted_keys import Deletions
from tidemark.capture.audit.row_comparison import DifferenceKind, LakeRow, RowLook, confirmed

KEYS = st.sampled_from("abc")
VALUES = st.sampled_from("01")


@dataclass
class Model:
    """`log` are changes (key, value after it or None); the lake holds those before `merged`, and what was planted."""

    log: list[tuple[str, str | None]] = field(default_factory=list)
    source: dict[str, str] = field(default_factory=dict)
    lake: dict[str, list[LakeRow]] = field(default_factory=dict)
    merged: int = 0

    def change(self, key: str, value: str | None) -> None:
        if value is None and self.source.pop(key, None) is None:
            return
        if value is not None:
            self.source[key] = value
        self.log.append((key, value))

    def merge(self) -> None:
        key, value = self.log[self.merged]
        self.lake.pop(key, None)
        if value is not None:
            self.lake[key] = [LakeRow(value, self.merged)]
        self.merged += 1

    def is_right(self, key: str) -> bool:
        """Whether the lake's row is the source's of the time up to which the lake is."""
        values = [value for changed, value in self.log[: self.merged] if changed == key]
        right = values[-1] if values else None
        return [row.text for row in self.lake.get(key, ())] == ([] if right is None else [right])


class AuditedSource(RuleBasedStateMachine):
    """Two looks at a time, between which, and within which, everything may happen."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.since, self.place = 0, -1
        self.snapshot: dict[str, str] = {}
        self.before: dict[str, DifferenceKind] = {}
        self.called: dict[str, DifferenceKind] = {}

    @initialize(rows=st.dictionaries(KEYS, VALUES))
    def begin(self, rows: dict[str, str]) -> None:
        for key, value in rows.items():
            self.model.change(key, value)

    @rule(key=KEYS, value=st.none() | VALUES)
    def change(self, key: str, value: str | None) -> None:
        self.model.change(key, value)

    @precondition(lambda self: self.model.merged < len(self.model.log))
    @rule()
    def merge(self) -> None:
        self.model.merge()

    @rule(key=KEYS, kind=st.sampled_from(DifferenceKind))
    def plant(self, key: str, kind: DifferenceKind) -> None:
        """Plant a difference without a change record: a lost row, a second one, another value, an unknown row."""
        lake = self.model.lake
        if kind is DifferenceKind.EXTRA:
            lake.setdefault(key, [LakeRow("0", 0)])
        elif key in lake and kind is DifferenceKind.MISSING:
            del lake[key]
        elif key in lake and kind is DifferenceKind.DOUBLED:
            lake[key] = [*lake[key], lake[key][0]]
        elif key in lake:
            lake[key] = [LakeRow("other", lake[key][0].offset)]

    @precondition(lambda self: self.place < 0)
    @rule()
    def ask_source(self) -> None:
        self.since, self.place, self.snapshot = self.model.merged, len(self.model.log), dict(self.model.source)

    @precondition(lambda self: 0 <= self.place <= self.model.merged)
    @rule()
    def ask_lake(self) -> None:
        now = self._look().differences()
        self.called = confirmed(self.before, now)
        self.before, self.place = now, -1

    @invariant()
    def nothing_right_is_called_different(self) -> None:
        assert not [key for key in self.called if self.model.is_right(key)]
        self.called = {}

    def teardown(self) -> None:
        """Once all is quiet, two looks find exactly what is wrong."""
        while self.model.merged < len(self.model.log):
            self.model.merge()
        self.model.log.append(("none", None))
        self.model.merge()
        calls = []
        for _ in range(2):
            self.since, self.snapshot = self.model.merged, dict(self.model.source)
            calls.append(self._look().differences())
        wrong = {key for key in "abc" if not self.model.is_right(key)}
        assert set(confirmed(*calls)) == wrong

    def _look(self) -> RowLook:
        deleted = {key for key, value in self.model.log[self.since : self.model.merged] if value is None}
        return RowLook(self.since, self.snapshot, self.model.lake, deleted)


AuditedSource.TestCase.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
TestAuditedSource = AuditedSource.TestCase


def test_deletions_are_those_from_an_offset_on_or_not_known() -> None:
    deletions = Deletions(10, {"a": 11, "b": 20})
    assert [deletions.since(offset) for offset in (9, 10, 11, 12, 21)] == [None, {"a", "b"}, {"a", "b"}, {"b"}, set()]
    assert Deletions(10, None).since(12) is None


def test_the_kinds_of_differences_are_distinguished() -> None:
    lake = {"b": [LakeRow("b", 1)], "c": [LakeRow("c", 1)] * 2, "d": [LakeRow("x", 1)], "e": [LakeRow("e", 1)]}
    source = {"a": "a", "c": "c", "d": "d", "e": "e"}
    assert RowLook(5, source, lake).differences() == {
        "a": DifferenceKind.MISSING,
        "b": DifferenceKind.EXTRA,
        "c": DifferenceKind.DOUBLED,
        "d": DifferenceKind.DIFFERS,
    }


def test_rows_that_change_say_nothing() -> None:
    look = RowLook(5, {"a": "1", "b": "1"}, {"b": [LakeRow("2", 5)]}, {"a"})
    assert look.differences() == {}
    assert look.changing == frozenset("ab")
    assert RowLook(5, {"a": "1"}, {}, None).differences() == {}


def test_twice_the_same_is_a_finding() -> None:
    missing, extra = DifferenceKind.MISSING, DifferenceKind.EXTRA
    assert confirmed({"a": missing, "b": extra}, {"a": missing, "b": missing, "c": extra}) == {"a": missing}
