"""Asks a place for its room: a Spark master, YARN's resource manager, or the quota of a Kubernetes namespace.

A place has room for as many runs as the cores that other programs leave free. Applications named `tidemark` are this
project's own: warm workers keep theirs between runs. Sources: JsonProtocol of Spark's standalone master; YARN's
ResourceManager REST API (`/ws/v1/cluster`); Kubernetes' ResourceQuota and Pod.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote
from urllib.request import Request

from tidemark.crawl.errors import ProbeError
from tidemark.crawl.json_request import NOT_THERE, fetch_json
from tidemark.system.run_places import APP_NAME, PlaceKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.system.run_places import RunPlace

SECONDS: Final = 4.0
"""The timeout of one answer."""
_YARN: Final = "/ws/v1/cluster"
_UNDER_WAY: Final = frozenset({"ACCEPTED", "RUNNING"})
_LABEL: Final = "spark-app-name"
_CPUS: Final = ("requests.cpu", "cpu")
_MILLI: Final = 1_000


@dataclass(frozen=True, slots=True)
class PlaceSight:
    """`slots`: the runs of ours that fit, active ones included. `words`: why there are not more."""

    slots: int
    words: str = ""


def look_at(place: RunPlace, token: str = "") -> PlaceSight:
    """The room of a place. Raises ProbeError for a place that does not answer, or is not at work."""
    match place.kind:
        case PlaceKind.STANDALONE:
            cores, used = _standalone(place, token)
        case PlaceKind.YARN:
            cores, used = _yarn(place, token)
        case PlaceKind.KUBERNETES:
            cores, used = _kubernetes(place, token)
    slots = max(0, int((cores - used) // place.cores))
    return PlaceSight(slots, f"other programs use {used:g} of {cores:g} cores")


def _standalone(place: RunPlace, token: str) -> tuple[float, float]:
    """All cores of the master's workers, and those of other programs."""
    master = _get(place, "/json/", token)
    if master["status"] != "ALIVE":
        raise ProbeError("the master is not at work", expected="ALIVE", found=str(master["status"])[:100])
    others = (application["cores"] for application in master["activeapps"] if application["name"] != APP_NAME)
    return float(master["cores"]), float(sum(others))


def _yarn(place: RunPlace, token: str) -> tuple[float, float]:
    """The most cores of the queue, and those of other programs in it."""
    scheduler = _get(place, f"{_YARN}/scheduler", token)["scheduler"]["schedulerInfo"]
    queue = next(_queues(scheduler, place.queue), None)
    if queue is None:
        raise ProbeError("the resource manager does not know the queue", found=place.queue)
    if queue.get("state", "RUNNING") != "RUNNING":
        raise ProbeError("the queue takes no applications", expected="RUNNING", found=str(queue["state"])[:100])
    if "maxResources" in queue:  # the fair scheduler
        cores = float(queue["maxResources"]["vCores"])
    else:
        metrics = _get(place, f"{_YARN}/metrics", token)["clusterMetrics"]
        cores = metrics["totalVirtualCores"] * queue["absoluteMaxCapacity"] / 100
    told = _get(place, f"{_YARN}/apps?queue={quote(place.queue)}&states={','.join(sorted(_UNDER_WAY))}", token)
    applications = (told["apps"] or {}).get("app", ())
    return cores, float(sum(max(0, app["allocatedVCores"]) for app in applications if app["name"] != APP_NAME))


def _queues(value: object, name: str) -> Iterator[Mapping[str, Any]]:
    """The queue with a name, by its last part or by its whole path, at any depth."""
    if isinstance(value, list):
        for inner in value:
            yield from _queues(inner, name)
    elif isinstance(value, dict):
        own = value.get("queuePath") or value.get("queueName")
        if isinstance(own, str) and name in (own, own.rpartition(".")[2]):
            yield value
        for inner in value.values():
            yield from _queues(inner, name)


def _kubernetes(place: RunPlace, token: str) -> tuple[float, float]:
    """The smallest quota of cores in the namespace, and the cores of others. Raises ProbeError without a quota."""
    namespace = f"/api/v1/namespaces/{quote(place.namespace, safe='')}"
    quotas = [item["status"] for item in _get(place, f"{namespace}/resourcequotas", token)["items"]]
    limits = [
        (_cores(status["hard"][name]), _cores(status.get("used", {}).get(name, "0")))
        for status in quotas
        for name in _CPUS
        if name in status.get("hard", {})
    ]
    if not limits:
        raise ProbeError("the namespace has no quota of cores", expected="a ResourceQuota with requests.cpu")
    cores, used = min(limits, key=lambda limit: limit[0] - limit[1])
    pods = _get(place, f"{namespace}/pods?labelSelector={quote(f'{_LABEL}={APP_NAME}')}", token)["items"]
    ours = sum(
        _cores(container.get("resources", {}).get("requests", {}).get("cpu", "0"))
        for pod in pods
        if pod["status"]["phase"] in ("Pending", "Running")
        for container in pod["spec"]["containers"]
    )
    return cores, max(0.0, used - ours)


def _cores(quantity: str) -> float:
    """Kubernetes' quantity of cores: `2`, `500m`, `1k`."""
    for suffix, factor in (("m", 1 / _MILLI), ("k", _MILLI)):
        if quantity.endswith(suffix):
            return float(quantity.removesuffix(suffix)) * factor
    return float(quantity)


def _get(place: RunPlace, path: str, token: str) -> Any:
    headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    request = Request(f"{place.probe.rstrip('/')}{path}", headers=headers)  # noqa: S310 - the setting allows only http
    document = fetch_json(request, SECONDS, lambda text: text.replace(token, "***") if token else text)
    if document is NOT_THERE:
        raise ProbeError("the server does not know the path", found=path)
    return document
