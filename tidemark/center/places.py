"""The room of places, as the dispatch sees it: asked in threads every few seconds, so that no decision waits.

Source: seed capability C1 (which cluster, queue or pod has room; a busy or absent one lets the flow wait).
"""

from __future__ import annotations

import os
import time
from threading import Condition, Thread
from typing import TYPE_CHECKING, Final

from tidemark.center.place_probes import SECONDS, PlaceSight, look_at
from tidemark.crawl.errors import ProbeError
from tidemark.system.run_places import TOKEN_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.slice import Slice
    from tidemark.system.run_places import RunPlace
    from tidemark.system.settings import Settings

_FRESH_SECONDS: Final = 5.0
_STALE_SECONDS: Final = 60.0
"""A place without an answer for this time counts as away."""
_UNKNOWN: Final = PlaceSight(0, "it was not asked yet")


class Places:
    """The places in the settings. `look` asks places that were not asked for some seconds; it returns at once.

    With `wait_seconds` it waits that long for the answers: the sensor's ticks are too far apart to use older ones.
    """

    def __init__(
        self,
        declared: Mapping[str, RunPlace],
        env: Mapping[str, str] = os.environ,
        ask: Callable[[RunPlace, str], PlaceSight] = look_at,
        clock: Callable[[], float] = time.monotonic,
        wait_seconds: float = 0.0,
    ) -> None:
        self._declared, self._env, self._ask, self._clock = declared, env, ask, clock
        self._wait_seconds = wait_seconds
        self._sights: dict[str, tuple[float, PlaceSight]] = {}
        self._asked: set[str] = set()
        self._changed = Condition()

    @classmethod
    def of(cls, settings: Settings, *, waits: bool = False) -> Places:
        """The places of a project; `waits` for a process that looks only now and then."""
        wait_seconds = SECONDS if waits else 0.0
        return cls({place.name: place for place in settings.places}, wait_seconds=wait_seconds)

    def look(self) -> None:
        """Start to ask each place whose answer is old, unless it is being asked."""
        with self._changed:
            due = [name for name in self._declared if name not in self._asked and self._age(name) >= _FRESH_SECONDS]
            self._asked.update(due)
            for name in due:
                Thread(target=self._look, args=[name], name=f"place {name}", daemon=True).start()
            if due and self._wait_seconds:
                self._changed.wait_for(lambda: self._asked.isdisjoint(due), self._wait_seconds)

    def sight(self, name: str) -> PlaceSight | None:
        """The last answer of a place; None for a pool that is not a place."""
        if name not in self._declared:
            return None
        with self._changed:
            if name not in self._sights:
                return _UNKNOWN
            if self._age(name) >= _STALE_SECONDS:
                return PlaceSight(0, f"it has not answered for {_STALE_SECONDS:.0f} seconds")
            return self._sights[name][1]

    def of_slice(self, entity: Entity, slice_: Slice) -> frozenset[str]:
        """The places that take the slice: its part, or its entity's tag, has one of the values of `takes`."""
        values = {**entity.tags, **dict(slice_.sub)}
        return frozenset(
            name
            for name, place in self._declared.items()
            if all(values.get(key) in wanted for key, wanted in place.takes)
        )

    def _age(self, name: str) -> float:
        return self._clock() - self._sights[name][0] if name in self._sights else float("inf")

    def _look(self, name: str) -> None:
        sight = self._sight_of(self._declared[name])
        with self._changed:
            self._sights[name] = self._clock(), sight
            self._asked.discard(name)
            self._changed.notify_all()

    def _sight_of(self, place: RunPlace) -> PlaceSight:
        token = self._env.get(f"{TOKEN_PREFIX}{place.name.upper()}", "")
        try:
            return self._ask(place, token)
        except ProbeError as error:
            return PlaceSight(0, f"it is away: {error}")
        except Exception as error:  # noqa: BLE001 - an answer of another form, which another version may give
            return PlaceSight(0, f"it is away: its answer is not understood ({type(error).__name__})")
