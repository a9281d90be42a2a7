"""What was inferred is kept for as long as the code that infers is the same."""

from __future__ import annotations

import hashlib

from tidemark.warehouse.inference_cache import analysis_version


def test_the_version_is_that_of_the_code_that_infers() -> None:
    assert analysis_version() != hashlib.sha256(b"").hexdigest()[:16], "no file was found: a cache would never be void"
