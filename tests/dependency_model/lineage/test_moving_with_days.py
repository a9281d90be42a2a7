"""A condition that moves with days is asked once, and moved: the same as asking of each day."""

from __future__ import annotations

from random import Random

import pytest

from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tests.examples import each
from tidemark.dependency_model.lineage import timeless_reach
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.time import Period

_FORMS = (
    "u.dt BETWEEN date_sub(o.dt, {a}) AND date_add(o.dt, {b})",
    "u.dt <= o.dt AND u.dt > date_sub(o.dt, {a})",
    "datediff(o.dt, u.dt) BETWEEN 0 AND {a}",
    "(u.dt = date_sub(o.dt, {a}) OR u.dt > date_add(o.dt, {b})) AND u.dt < date_add(o.dt, {a} + {b})",
    "NOT (u.dt < o.dt) AND u.dt <= date_add(o.dt, {b})",
    "u.dt <= o.dt AND u.dt >= date_sub(:biz_date, {a})",
    "u.dt >= trunc(o.dt, 'MM') AND u.dt <= o.dt",
    "u.dt <= date_add(o.dt, {b})",
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", each(4, range(16)))
def test_what_is_moved_is_what_would_be_found(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    condition = _FORMS[seed % len(_FORMS)].format(a=random.randint(1, 40), b=random.randint(0, 9))
    window = f"o.dt BETWEEN date_sub(:biz_date, {random.randint(20, 70)}) AND :biz_date"
    text = f"SELECT 1 FROM d_orders AS o JOIN d_users AS u ON {condition} WHERE {window}"  # noqa: S608 - of this test
    moved = _offsets(text)
    monkeypatch.setattr(timeless_reach, "moves_with_days", lambda *_: False)
    assert moved == _offsets(text)


def _offsets(text: str) -> dict[str, str]:
    downstream = EntityOutline("downstream", Period.DAY, PARIS, START)
    reads = infer([read_query(text)], downstream, SUBJECTS, session=QuerySession("Europe/Paris"))
    return {name: f"{read} {read.evaluated}" for name, read in reads.items()}
