"""Checks Kafka Connect: the instances' connectors run, and their settings do not change values."""

from __future__ import annotations

import json
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import build_opener

from tidemark.capture.source_table import topic_of
from tidemark.system.check_finding import Finding
from tidemark.system.web_request import NoRedirects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_VARIABLE: Final = "TIDEMARK_CONNECT"
_PAGE: Final = "docs/connector-failed.md"
_SECONDS: Final = 10.0
_MOST_BYTES: Final = 16_000_000
_CAUSE_CHARACTERS: Final = 300
# The allowed values of each setting; None: the setting may be absent.
_SETTINGS: Final[Mapping[str, tuple[str | None, ...]]] = {
    "decimal.handling.mode": ("string",),
    "enable.time.adjuster": ("false",),
    "skipped.operations": ("none",),
    "time.precision.mode": (None, "adaptive_time_microseconds"),
    "bigint.unsigned.handling.mode": (None, "long"),
    "binary.handling.mode": (None, "bytes"),
    "include.schema.changes": (None, "true"),
    "value.converter.replace.null.with.default": (None, "false"),
}


def connectors(address: str, instances: Sequence[str]) -> list[Finding]:
    """The findings of the Connect worker at `address` (`http://host:8083`) about each instance's connector.

    An instance's connector is the one whose `topic.prefix` is the instance's topic.
    """
    subject = f"Kafka Connect {address}"
    if urlsplit(address).scheme not in {"http", "https"}:
        return [Finding(subject, "problem", "not a web address", f"set {_VARIABLE} to http://HOST:8083")]
    try:
        listed = _listed(address)
    except (OSError, HTTPException, ValueError) as error:
        return [Finding(subject, "unreachable", str(error)[:_CAUSE_CHARACTERS], f"start it, or correct {_VARIABLE}")]
    findings = [Finding(subject, "ok", f"answers, {len(listed)} connectors")]
    for instance in instances:
        own = {
            name: entry for name, entry in listed.items() if _config(entry).get("topic.prefix") == topic_of(instance)
        }
        if not own:
            to_do = f"create it (docs/capture.md), or name the worker that has it in {_VARIABLE}"
            findings.append(
                Finding(
                    f"connector of {instance}", "warning", f"no connector has topic.prefix={topic_of(instance)}", to_do
                )
            )
        for name, entry in own.items():
            findings += _state(f"connector {name}", entry)
            findings += _settings(f"connector {name}", _config(entry))
    return findings


def _listed(address: str) -> dict[str, Any]:
    question = f"{address.rstrip('/')}/connectors?expand=status&expand=info"
    with build_opener(NoRedirects).open(question, timeout=_SECONDS) as answer:
        body = answer.read(_MOST_BYTES + 1)
    if len(body) > _MOST_BYTES:
        raise ValueError(f"the answer is longer than {_MOST_BYTES} bytes")
    try:
        listed = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("the answer is not JSON: is this Kafka Connect's address?") from None
    return (
        {name: entry for name, entry in listed.items() if isinstance(entry, dict)} if isinstance(listed, dict) else {}
    )


def _config(entry: object) -> Mapping[str, str]:
    return _object(_object(_object(entry).get("info")).get("config"))


def _object(value: object) -> Mapping[str, Any]:
    """`value` if it is a JSON object, else an empty one: the worker's answer is not trusted."""
    return value if isinstance(value, dict) else {}


def _state(subject: str, entry: Mapping[str, Any]) -> Iterator[Finding]:
    """The states of the connector and its tasks. A connector can run while its task has failed."""
    status = _object(entry.get("status"))
    listed = status.get("tasks")
    tasks = [_object(task) for task in listed] if isinstance(listed, list) else []
    parts = [("connector", _object(status.get("connector"))), *((f"task {task.get('id')}", task) for task in tasks)]
    failed = [(what, part) for what, part in parts if part.get("state") != "RUNNING"]
    for what, part in failed:
        state, cause = part.get("state", "unknown"), _cause(str(part.get("trace") or ""))
        if state == "FAILED":
            to_do = (
                f"see {_PAGE} for the cause, then POST connectors/{subject.partition(' ')[2]}/restart?includeTasks=true"
            )
            # The instance is down at this moment, but the other instances go on.
            yield Finding(subject, "unreachable", f"{what} failed: {cause}", to_do)
        else:
            yield Finding(subject, "warning", f"{what} is {state}", "resume it: its instance is not captured")
    if not tasks and not failed:
        yield Finding(subject, "warning", "has no task", "look into the worker's log: its instance is not captured")
    elif not failed:
        yield Finding(subject, "ok", "runs")


def _cause(trace: str) -> str:
    """The innermost cause of a Java stack trace, in one line."""
    lines = [line.strip() for line in trace.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return (causes[-1] if causes else lines[0] if lines else "no reason given")[:_CAUSE_CHARACTERS]


def _settings(subject: str, config: Mapping[str, str]) -> Iterator[Finding]:
    for name, allowed in _SETTINGS.items():
        configured = config.get(name)
        if (None if configured is None else str(configured).lower()) not in allowed:
            shown = "not set" if configured is None else configured
            yield Finding(
                subject,
                "problem",
                f"{name} is {shown}, which changes values or omits changes",
                f"set {name}={allowed[-1]}; then reload the captured tables: tidemark capture reload",
            )
