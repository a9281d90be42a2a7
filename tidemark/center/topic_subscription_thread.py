"""Reads reports from a Kafka topic in a thread of the service while it is active."""

from __future__ import annotations

from contextlib import nullcontext
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from tidemark.center.detectors.kafka_source import KafkaSource
from tidemark.center.detectors.topic_detector import TopicDetector
from tidemark.system.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tidemark.center.center import DependencyCenter
    from tidemark.state_store.reader import StateReader
    from tidemark.system.settings import Settings

_AGAIN_SECONDS: Final = 1.0
_STANDBY_SECONDS: Final = 0.3


class TopicTeller(Protocol):
    """Gets the results of messages: the name of an event and its values."""

    def __call__(self, event: str, /, **values: Any) -> None: ...


class TopicSubscription:
    """Use as a context. `generation` says whether the service is active: each one starts from the stored state."""

    def __init__(
        self, open_detector: Callable[[], TopicDetector], generation: Callable[[], int | None], tell: TopicTeller
    ) -> None:
        self._open, self._generation, self._tell = open_detector, generation, tell
        self._closed = Event()
        self._thread = Thread(target=self._follow, name="topic", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._closed.is_set():
            generation = self._generation()
            if generation is None:
                self._closed.wait(_STANDBY_SECONDS)
                continue
            try:
                self._take_in(generation)
            except Exception as error:  # noqa: BLE001 - Kafka or the store is down: reading continues later
                self._tell("again", kind=type(error).__name__, error=" ".join(str(error).split())[:500])
                self._closed.wait(_AGAIN_SECONDS)

    def _take_in(self, generation: int) -> None:
        detector = self._open()
        with detector:
            while not self._closed.is_set() and self._generation() == generation:
                for message, error in detector.poll().refused:
                    self._tell("refused", partition=message.partition, offset=message.offset, error=str(error)[:500])


def subscription_of(
    settings: Settings,
    center: DependencyCenter,
    read: StateReader,
    generation: Callable[[], int | None],
    tell: TopicTeller,
) -> AbstractContextManager[object]:
    """The subscription in the settings, if they name a topic. Raises SettingsError."""
    topic, servers = settings.reports_topic, settings.kafka
    if not topic:
        return nullcontext()
    if not servers:
        raise SettingsError(
            "a topic of reports without Kafka",
            found=f"TIDEMARK_REPORTS_TOPIC={topic}",
            where="TIDEMARK_KAFKA",
            hint="name the bootstrap servers with TIDEMARK_KAFKA, or unset TIDEMARK_REPORTS_TOPIC",
        )
    return TopicSubscription(lambda: TopicDetector(topic, KafkaSource(topic, servers), center, read), generation, tell)
