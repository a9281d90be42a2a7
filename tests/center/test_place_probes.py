"""The room of a place, from answers in the form of Spark's master, YARN's resource manager and Kubernetes."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.center.place_probes import PlaceSight, look_at
from tidemark.crawl.errors import ProbeError
from tidemark.system.run_places import PlaceKind, RunPlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def stand_in(answers: Mapping[str, Any], token: str = "") -> Iterator[str]:
    """A server with these answers by path; it refuses requests without the token."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_allowed = not token or self.headers["Authorization"] == f"Bearer {token}"
            answer = answers.get(self.path)
            self.send_response(403 if not is_allowed else 404 if answer is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def application(name: str, cores: int) -> dict[str, Any]:
    return {"id": f"app-{name}", "name": name, "cores": cores, "allocatedVCores": cores, "state": "RUNNING"}


def standalone(url: str, cores: int = 2) -> RunPlace:
    return RunPlace("east", PlaceKind.STANDALONE, "spark://east:7077", url, cores=cores)


def test_a_master_has_room_for_the_cores_that_others_do_not_use() -> None:
    master = {"status": "ALIVE", "cores": 16, "coresused": 11, "activeapps": []}
    applications = [application("notebook", 5), application("tidemark", 6)]
    with stand_in({"/json/": {**master, "activeapps": applications}}) as url:
        assert look_at(standalone(url)) == PlaceSight(5, "other programs use 5 of 16 cores")
    with stand_in({"/json/": {**master, "activeapps": [application("notebook", 16)]}}) as url:
        assert look_at(standalone(url)).slots == 0


def test_a_master_that_stands_by_or_is_gone_has_none() -> None:
    with stand_in({"/json/": {"status": "STANDBY", "cores": 16, "activeapps": []}}) as url:
        with pytest.raises(ProbeError, match="the master is not at work: expected ALIVE, found STANDBY"):
            look_at(standalone(url))
        with pytest.raises(ProbeError, match="the server does not know the path"):
            look_at(RunPlace("west", PlaceKind.YARN, "yarn", url, queue="reports"))
    with pytest.raises(ProbeError, match="the server did not answer"):
        look_at(standalone(url))


CAPACITY = {
    "type": "capacityScheduler",
    "queueName": "root",
    "queues": {
        "queue": [
            {"queueName": "etl", "state": "RUNNING", "absoluteMaxCapacity": 100.0},
            {"queueName": "reports", "queuePath": "root.reports", "state": "RUNNING", "absoluteMaxCapacity": 25.0},
            {"queueName": "old", "state": "STOPPED", "absoluteMaxCapacity": 25.0},
        ]
    },
}
FAIR = {
    "type": "fairScheduler",
    "rootQueue": {
        "queueName": "root",
        "maxResources": {"memory": 1, "vCores": 400},
        "childQueues": {"queue": [{"queueName": "root.reports", "maxResources": {"memory": 1, "vCores": 100}}]},
    },
}


@pytest.mark.parametrize("scheduler", [CAPACITY, FAIR], ids=["capacity", "fair"])
def test_a_queue_has_room_for_its_part_of_the_cluster_without_others(scheduler: Mapping[str, Any]) -> None:
    applications = {"apps": {"app": [application("tidemark", 8), application("hive", 60)]}}
    answers = {
        "/ws/v1/cluster/scheduler": {"scheduler": {"schedulerInfo": scheduler}},
        "/ws/v1/cluster/metrics": {"clusterMetrics": {"totalVirtualCores": 400}},
        "/ws/v1/cluster/apps?queue=reports&states=ACCEPTED,RUNNING": applications,
    }
    with stand_in(answers) as url:
        place = RunPlace("west", PlaceKind.YARN, "yarn", url, queue="reports", cores=4)
        assert look_at(place) == PlaceSight(10, "other programs use 60 of 100 cores")
        none = {**answers, "/ws/v1/cluster/apps?queue=reports&states=ACCEPTED,RUNNING": {"apps": None}}
    with stand_in(none) as url:
        assert look_at(RunPlace("west", PlaceKind.YARN, "yarn", url, queue="reports", cores=4)).slots == 25
        with pytest.raises(ProbeError, match="does not know the queue: found x"):
            look_at(RunPlace("west", PlaceKind.YARN, "yarn", url, queue="x"))


def test_a_stopped_queue_takes_nothing() -> None:
    answers = {"/ws/v1/cluster/scheduler": {"scheduler": {"schedulerInfo": CAPACITY}}}
    told = "takes no applications: expected RUNNING, found STOPPED"
    with stand_in(answers) as url, pytest.raises(ProbeError, match=told):
        look_at(RunPlace("west", PlaceKind.YARN, "yarn", url, queue="old"))


def pod(cpu: str, phase: str = "Running") -> dict[str, Any]:
    requests = {"resources": {"requests": {"cpu": cpu}}}
    return {"status": {"phase": phase}, "spec": {"containers": [requests, {"resources": {}}]}}


def test_a_namespace_has_room_for_the_smallest_quota_without_others() -> None:
    quotas = [
        {"status": {"hard": {"requests.cpu": "20"}, "used": {"requests.cpu": "9500m"}}},
        {"status": {"hard": {"pods": "10"}, "used": {"pods": "4"}}},
        {"status": {"hard": {"cpu": "1k"}}},
    ]
    answers = {
        "/api/v1/namespaces/etl/resourcequotas": {"items": quotas},
        "/api/v1/namespaces/etl/pods?labelSelector=spark-app-name%3Dtidemark": {
            "items": [pod("2"), pod("500m", "Pending"), pod("8", "Succeeded")]
        },
        "/api/v1/namespaces/none/resourcequotas": {"items": quotas[1:2]},
    }
    with stand_in(answers, token="a-secret-token") as url:
        place = RunPlace("pods", PlaceKind.KUBERNETES, "k8s://kube", url, namespace="etl", cores=2)
        assert look_at(place, "a-secret-token") == PlaceSight(6, "other programs use 7 of 20 cores")
        with pytest.raises(ProbeError, match="the server refused the request: found status 403"):
            look_at(place)
        with pytest.raises(ProbeError, match="the namespace has no quota of cores"):
            look_at(RunPlace("pods", PlaceKind.KUBERNETES, "k8s://kube", url, namespace="none"), "a-secret-token")
