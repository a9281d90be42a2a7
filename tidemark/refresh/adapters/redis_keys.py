"""Keys of a server with the Redis protocol, selected by name, by pattern, or by a set that lists them (a tag)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import redis

from tidemark.refresh.errors import TargetDownError, TargetRefusedError, TargetSettingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidemark.refresh.refreshed_slice import RefreshedSlice

_SECONDS: Final = 5.0
_AT_ONCE: Final = 1_000
_SPECIAL: Final = re.compile(r"([\\*?\[\]^])")
_DOWN: Final = (redis.ConnectionError, redis.TimeoutError, redis.BusyLoadingError)


class RedisKeys:
    """Unlinks keys, so readers miss them and load the data again. A tag's set loses the key in the same transaction."""

    def __init__(self, target: str, address: str) -> None:
        self._target = target
        try:
            self._client: Any = redis.Redis.from_url(
                address, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS, client_name="tidemark"
            )
        except ValueError:
            raise TargetSettingError.of(target, "redis://:password@host:6379/0, or rediss://...") from None

    def deliver(self, refreshed: RefreshedSlice) -> None:
        """See RefreshAdapter."""
        try:
            for told in refreshed.made:
                exact = [text for text in told.keys if "*" not in text]
                patterns = [text for text in told.keys if "*" in text]
                self._unlink(refreshed.texts(exact))
                for pattern in refreshed.texts(map(_with_star_alone, patterns), _literal):
                    self._unlink_matching(pattern)
                for tag in refreshed.texts(told.tags):
                    self._unlink_tagged(tag)
        except _DOWN as error:
            raise TargetDownError.of(self._target, type(error).__name__) from None
        except redis.RedisError as error:
            raise TargetRefusedError.of(self._target, type(error).__name__) from None

    def _unlink(self, keys: Sequence[str | bytes]) -> None:
        for some in _parts(keys):
            self._client.unlink(*some)

    def _unlink_matching(self, pattern: str) -> None:
        found: list[bytes] = []
        for key in self._client.scan_iter(match=pattern, count=_AT_ONCE):
            found.append(key)
            if len(found) >= _AT_ONCE:
                self._unlink(found)
                found.clear()
        self._unlink(found)

    def _unlink_tagged(self, tag: str) -> None:
        """A reader may write a key again meanwhile.

        The key then keeps its place in the set, or loses both value and place.
        """
        for some in _parts(list(self._client.sscan_iter(tag, count=_AT_ONCE))):
            with self._client.pipeline(transaction=True) as transaction:
                transaction.unlink(*some)
                transaction.srem(tag, *some)
                transaction.execute()


def _parts(keys: Sequence[str | bytes]) -> Iterator[Sequence[str | bytes]]:
    for first in range(0, len(keys), _AT_ONCE):
        yield keys[first : first + _AT_ONCE]


def _literal(value: str) -> str:
    """A value escaped for a pattern, so that it matches only itself."""
    return _SPECIAL.sub(r"\\\1", value)


def _with_star_alone(template: str) -> str:
    """A declared pattern in which `*` is the only special character."""
    return re.sub(r"([\\?\[\]^])", r"\\\1", template)
