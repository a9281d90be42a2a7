"""Keys of a real Redis server: those of the slice go, all others stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.refresh.world import refreshed_slice
from tidemark.refresh.adapters.redis_keys import RedisKeys
from tidemark.refresh.errors import TargetDownError, TargetRefusedError, TargetSettingError
from tidemark.system.free_port import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.components.redis_server import RedisServer

pytestmark = pytest.mark.components
_NAMES = st.text(st.sampled_from("ab*?[]^\\-%{é "), min_size=1, max_size=4)


@pytest.fixture
def client(redis_server: RedisServer) -> Iterator[Any]:
    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        client.flushall()
        yield client


def test_the_keys_of_a_slice_and_of_its_longer_periods_go(client: Any, redis_server: RedisServer) -> None:
    hit = ["gmv:2026-03-29:eu", "gmv:2026-03", "page:2026-03-29:1", "page:2026-03-29:2"]
    others = ["gmv:2026-03-29:us", "gmv:2026-03-28:eu", "gmv:2026-04", "page:2026-03-28:1", "page"]
    client.mset(dict.fromkeys([*hit, *others], "x"))
    keys = ["gmv:{day}:{region}", "gmv:{month}", "page:{day}:*", "not:there"]
    target = RedisKeys("cache", redis_server.url)
    for _ in range(2):
        target.deliver(refreshed_slice(f"[{{target: cache, keys: {keys}}}]"))
        assert sorted(client.keys()) == sorted(others)


def test_the_keys_of_a_tag_go_with_their_places_in_it(client: Any, redis_server: RedisServer) -> None:
    client.mset({f"{day}-{number}": "x" for day in (28, 29) for number in range(2_500)})
    for day in (28, 29):
        client.sadd(f"gmv-2026-03-{day}", *(f"{day}-{number}" for number in range(2_500)))
    RedisKeys("cache", redis_server.url).deliver(refreshed_slice("[{target: cache, tags: ['gmv-{day}']}]"))
    assert client.exists("gmv-2026-03-29") == 0
    assert client.scard("gmv-2026-03-28") == 2_500
    assert client.exists(*client.smembers("gmv-2026-03-28")) == 2_500
    assert client.dbsize() == 2_501


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(region=_NAMES, others=st.lists(_NAMES, max_size=5))
def test_a_part_of_any_name_hits_itself_alone(
    client: Any, redis_server: RedisServer, region: str, others: list[str]
) -> None:
    """Whatever a pattern's characters mean to the server."""
    client.flushall()
    client.mset({f"p:{name}:{at}": "x" for name in {region, *others} for at in range(2)})
    refreshed = refreshed_slice("[{target: cache, keys: ['p:{region}:*']}]", region)
    RedisKeys("cache", redis_server.url).deliver(refreshed)
    assert set(client.keys()) == {f"p:{name}:{at}" for name in {*others} - {region} for at in range(2)}


def test_a_server_that_is_not_there_and_one_that_refuses(client: Any, redis_server: RedisServer) -> None:
    refreshed = refreshed_slice("[{target: cache, keys: ['k'], tags: [t]}]")
    with pytest.raises(TargetDownError) as down:
        RedisKeys("cache", f"redis://:secret@127.0.0.1:{free_port()}/0").deliver(refreshed)
    assert "secret" not in str(down.value)
    client.set("t", "no set")
    with pytest.raises(TargetRefusedError):
        RedisKeys("cache", redis_server.url).deliver(refreshed)
    with pytest.raises(TargetSettingError, match="TIDEMARK_TARGET_CACHE"):
        RedisKeys("cache", "secret")
