"""What the last runs of slices read, from their stored manifests, on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.state_store.examples import DAY, HOUR, chain
from tidemark.dependency_model.readiness.release import Reason
from tidemark.dependency_model.readiness.slice_manifest import ManifestClause, SliceManifest, UsedSlice
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from tidemark.state_store.store import StateStore

LAUNCHED = "released launched"
STRANGE = Slice("a b", "2026-03-23")


def test_the_last_run_has_its_inputs_and_their_generations(store: StateStore) -> None:
    used = (UsedSlice(HOUR, 2, "7"), UsedSlice(STRANGE, 1))
    manifest = SliceManifest(DAY, "completed", (ManifestClause("sales", Reason.ALL, used),))
    steps = chain(DAY, LAUNCHED, facts=Facts(run_id="1", manifest=manifest))
    store.write.append(steps, after=0)
    assert store.read.reads([DAY, HOUR]) == {DAY: [(HOUR, 2), (STRANGE, 1)]}
    more = chain(DAY, "failed forced", first=3, status=steps[-1].status, facts=Facts(run_id="2"))
    store.write.append(more, after=2)
    assert store.read.reads([DAY]) == {DAY: None}


def test_many_slices_return_only_those_with_a_run(store: StateStore) -> None:
    assert store.read.reads([]) == {}
    assert store.read.reads([Slice("orders", f"2026-03-{day:02}") for day in range(1, 31)]) == {}
