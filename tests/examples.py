"""How many examples a property is asked for. The long tests ask for TIDEMARK_TEST_EXAMPLES times as many."""

from __future__ import annotations

import os
from typing import Final

from hypothesis import settings

EXAMPLES: Final = "TIDEMARK_TEST_EXAMPLES"
_DEFAULT: Final = 100
PROFILE: Final = "tidemark"


def examples(count: int) -> settings:
    """The settings of one property."""
    return settings(max_examples=count * _times())


def load_profile() -> None:
    """The settings of all others. An example's time is the machine's."""
    settings.register_profile(PROFILE, deadline=None, max_examples=_DEFAULT * _times())
    settings.load_profile(PROFILE)


def _times() -> int:
    return int(os.environ.get(EXAMPLES, "1"))
