"""What became of the runs and backfills that the UI launched, asked of Dagster's own API."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from typing import Any

from tests.until import until
from tidemark.console.dagster_server.server import graphql

_POLL_SECONDS = 1.0
_RUNS = "{ runsOrError(limit: 50) { ... on Runs { results { id status } } } }"
_BACKFILLS = """{ partitionBackfillsOrError(limit: 50) { ... on PartitionBackfills {
  results { id status error { message } } } } }"""
_FAILURES = """query ($id: ID!) { runOrError(runId: $id) { ... on Run { eventConnection { events {
  ... on ExecutionStepFailureEvent { error { message } } ... on RunFailureEvent { error { message } } } } } } }"""
_MATERIALIZATIONS = """query ($asset: String!, $partitions: [String!]) {
  assetOrError(assetKey: {path: [$asset]}) { ... on Asset {
    assetMaterializations(partitions: $partitions, limit: 100) { partition timestamp runId } } } }"""
_RUN_OVER = {"SUCCESS", "FAILURE", "CANCELED"}
_BACKFILL_OVER = {"COMPLETED_SUCCESS", "COMPLETED_FAILED", "COMPLETED", "FAILED", "CANCELED"}


@dataclass(frozen=True)
class RunsByGraphql:
    """The API on this port."""

    port: int

    def runs(self) -> dict[str, str]:
        """Status by id, newest first."""
        runs = self._ask(_RUNS)["runsOrError"]["results"]
        return {run["id"]: run["status"] for run in runs}

    def backfills(self) -> dict[str, dict[str, Any]]:
        """Backfills by id, newest first."""
        backfills = self._ask(_BACKFILLS)["partitionBackfillsOrError"]["results"]
        return {backfill["id"]: backfill for backfill in backfills}

    def materialized_at(self, asset: str, partitions: list[str]) -> dict[str, float]:
        """The newest materialization of each partition, as epoch seconds."""
        answer = self._ask(_MATERIALIZATIONS, asset=asset, partitions=partitions)["assetOrError"]
        times: dict[str, float] = {}
        for event in answer.get("assetMaterializations", []):
            at = float(event["timestamp"]) / 1000
            times[event["partition"]] = max(at, times.get(event["partition"], 0.0))
        return times

    def new_run_succeeds(self, known: set[str], timeout_seconds: float) -> str:
        """Wait for a run that is not among the known ones, and for its success; returns its id."""

        def ended() -> str:
            runs = self.runs()
            new = [run for run in runs if run not in known]
            return new[0] if new and runs[new[0]] in _RUN_OVER else ""

        run = until(ended, lambda: f"a new run's success, runs are {self.runs()}", timeout_seconds, _POLL_SECONDS)
        assert self.runs()[run] == "SUCCESS", f"run {run}: {self.runs()[run]}\n{self.failures(run)}"
        return run

    def new_backfill_succeeds(self, known: set[str], timeout_seconds: float) -> str:
        """Wait for a backfill that is not among the known ones, and for its success; returns its id."""

        def ended() -> dict[str, Any]:
            new = [backfill for name, backfill in self.backfills().items() if name not in known]
            return new[0] if new and new[0]["status"] in _BACKFILL_OVER else {}

        backfill = until(ended, lambda: f"{self.backfills()}, runs are {self.runs()}", timeout_seconds, _POLL_SECONDS)
        failed = "\n".join(self.failures(run) for run, status in self.runs().items() if status == "FAILURE")
        assert backfill["status"] == "COMPLETED_SUCCESS", f"{backfill}\n{failed}"
        return str(backfill["id"])

    def failures(self, run_id: str) -> str:
        """The error messages of a run."""
        events = self._ask(_FAILURES, id=run_id)["runOrError"]["eventConnection"]["events"]
        return "\n".join(event["error"]["message"] for event in events if event.get("error"))

    def _ask(self, query: str, **variables: Any) -> dict[str, Any]:
        try:
            answer = graphql(self.port, query, variables)
        except (OSError, http.client.HTTPException) as error:
            raise AssertionError(f"Dagster does not answer on port {self.port}: {error}") from error
        assert "errors" not in answer, answer
        data: dict[str, Any] = answer["data"]
        return data
