"""Pages behind a real Varnish: those with the slice's surrogate keys are asked for again, all others are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.alerts.receiver import receiving
from tests.refresh.world import refreshed_slice
from tidemark.refresh.adapters.http_purge import HttpPurge
from tidemark.refresh.errors import TargetDownError, TargetRefusedError, TargetSettingError
from tidemark.system.free_port import free_port
from tidemark.system.refresh_target import RefreshTarget, TargetKind

if TYPE_CHECKING:
    from tests.components.varnish import CachedPages

EDGE = RefreshTarget("edge", TargetKind.PURGE)


@pytest.mark.components
def test_the_pages_of_a_slice_are_purged_by_key_and_by_path(cached_pages: CachedPages) -> None:
    pages = {"/a": "gmv-2026-03-29 gmv-eu", "/b": "gmv-2026-03-29", "/c": "gmv-2026-03-28", "/d/2026-03-29/e%20u": ""}
    cached_pages.keys.update(pages)
    for _ in range(2):
        cached_pages.read(*pages)
    assert cached_pages.served == dict.fromkeys(pages, 1)
    made = "[{target: edge, tags: ['gmv-{day}', 'gmv-{region}'], paths: ['/d/{day}/{region}', '/none/{day}']}]"
    HttpPurge(EDGE, cached_pages.url).deliver(refreshed_slice(made, "e u"))
    cached_pages.read(*pages)
    assert cached_pages.served == {**dict.fromkeys(pages, 2), "/c": 1}


@pytest.mark.components
def test_a_cache_that_does_not_know_the_method_refuses(cached_pages: CachedPages) -> None:
    refreshed = refreshed_slice("[{target: edge, tags: [t]}]")
    with pytest.raises(TargetRefusedError, match="it answered 501"):
        HttpPurge(RefreshTarget("edge", TargetKind.PURGE, method="LINK"), cached_pages.url).deliver(refreshed)


def test_many_keys_go_in_several_requests_and_no_key_is_cut() -> None:
    tags = [f"{'x' * 90}-{number}" for number in range(90)]
    with receiving() as receiver:
        target = RefreshTarget("edge", TargetKind.PURGE, method="POST", header="Surrogate-Key")
        HttpPurge(target, receiver.url.removesuffix("/hook")).deliver(
            refreshed_slice(f"[{{target: edge, tags: {tags}}}]")
        )
    sent = [value for headers in receiver.headers for name, value in headers.items() if name.lower() == "surrogate-key"]
    assert len(sent) == 3
    assert " ".join(sent).split() == tags


def test_a_cache_that_is_not_there_and_an_address_that_is_none() -> None:
    refreshed = refreshed_slice("[{target: edge, tags: [t]}]")
    with pytest.raises(TargetDownError) as down:
        HttpPurge(EDGE, f"http://u:secret@127.0.0.1:{free_port()}").deliver(refreshed)
    assert "secret" not in str(down.value)
    for address in ("file:///etc/passwd", "ftp://secret/", "secret", "http://"):
        with pytest.raises(TargetSettingError, match="TIDEMARK_TARGET_EDGE") as error:
            HttpPurge(EDGE, address).deliver(refreshed)
        assert "secret" not in str(error.value)
