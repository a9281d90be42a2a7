"""Makes manifests for runs that the center did not launch: from Dagster's UI, a backfill, a schedule, a script.

It uses the center's rules (`readiness.release`), with the state store and newer events of Dagster's log; if no center
ever ran, the whole log. A run of the center uses the manifest of its launch.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tidemark.center.stored_and_logged_slices import ObservedSlices
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.readiness.earliest_time import earliest
from tidemark.dependency_model.readiness.release import Release, release
from tidemark.dependency_model.readiness.self_starting_slices import next_state
from tidemark.dependency_model.readiness.slice_manifest import SliceManifest, manifest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import dagster as dg

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader


class RunJudge:
    """One for each step of a run: statuses are read once."""

    def __init__(self, graph: DependencyGraph, read: StateReader, instance: dg.DagsterInstance) -> None:
        self._graph, self._read, self._instance = graph, read, instance

    def manifests(self, slices: Sequence[Slice], launched_as: str, forced: str) -> list[SliceManifest]:
        """The manifests of a step's slices in order; each may read the ones before it.

        `launched_as` is the id of the launch, or the run's own; `forced` is the reason to run without all inputs. A
        manifest may have unmet clauses: the caller then refuses the run.
        """
        launches = self._read.launches(slices)
        kept = {slice_: launch.facts for slice_, launch in launches.items() if launch.facts.run_id == launched_as}
        known = ObservedSlices(self._graph, self._read, self._instance)
        manifests = []
        for slice_ in slices:
            facts = kept.get(slice_)
            manifests.append(facts.manifest if facts and facts.manifest else self._decided(slice_, known, forced))
            known.will_be_there(slice_)
        return manifests

    def _decided(self, slice_: Slice, known: ObservedSlices, forced: str) -> SliceManifest:
        state, decision = self._furthest(slice_, known)
        used = [input_ for verdict in decision.verdicts for input_ in verdict.used]
        return replace(manifest_of(slice_, state, decision, known, known.versions(used), forced), is_judged=True)

    def _furthest(self, slice_: Slice, known: ObservedSlices) -> tuple[str, Release]:
        """The last state that a slice may reach now; if none, the missing inputs of the next one."""
        entity = self._graph.entity(slice_.entity)
        judged = {state: self._judged(slice_, state, known) for state in reversed(entity.state_names)}
        for state, decision in judged.items():
            if all(verdict.is_met for verdict in decision.verdicts):
                return state, decision
        state = next_state(entity, known.status(slice_)) or COMPLETED
        return state, judged[state]

    def _judged(self, slice_: Slice, state: str, known: ObservedSlices) -> Release:
        not_before = earliest(self._graph.entity(slice_.entity), self._graph.window(slice_))
        return release(self._graph.requirements(slice_, state), known, not_before, datetime.now(UTC))
