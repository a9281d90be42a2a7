"""Random strings into each parser: only our parse error comes out, and none takes long.

The fast run takes ten thousand strings a parser; `python -m tests.dependency_model.test_fuzz` takes a million each.
"""

from __future__ import annotations

import sys
import time
from random import Random
from typing import TYPE_CHECKING

import pytest

from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.offset import Offset
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.subject import DependencySubjectId
from tidemark.dependency_model.subject.date_conditions import stretches
from tidemark.dependency_model.time import Calendar, Period
from tidemark.dependency_model.time.cron import Cron
from tidemark.errors import EntityErrors, ParseError

if TYPE_CHECKING:
    from collections.abc import Callable

SLOW_SECONDS = 0.010
ATTEMPTS = 4
"""A string counts as slow if it is slow every time: a busy machine makes anything slow once."""

PARIS = Calendar("Europe/Paris")
PARSERS: dict[str, Callable[[str], object]] = {
    "offset": Offset.parse,
    "period": Period.parse,
    "slice": Slice.parse,
    "subject": DependencySubjectId.parse,
    "cron": Cron.parse,
    "moment": lambda text: stretches(text, PARIS),
    "entity": lambda text: parse_entity(text, "table"),
} | {f"key of {period}": (lambda text, period=period: PARIS.window(period, text)) for period in Period}

SEEDS = [
    "Set 0,-1", "Range -6..0", "Range 0-23", "all week", "to_date month", "last_available", "static",
    "ods_orders@2026-03-29", "sales@2026-03-29/region=cn", "taskId=1234&&bizDate=20220101..20220107",
    "table=a&&dt=20220101,20220102&&region=c%26n", "30 0 * * mon-fri", "*/5 1,2 29 feb ?",
    "2026-03-29T02+01:00", "2026-10-25T02:55", "2026-Q1", "2026-03", "202603290305", "day", "10min",
    'period: day\ndepends_on:\n  - {entity: a, offset: "Set 0"}\n', "kind: Static\ntags: {a: b}\n",
    "period: week\nstates: [{entity_state: x, depends_on: [{entity: b, weak: {at_least: 90%}}]}]\n",
]  # fmt: skip
ALPHABET = (
    "0123456789-+.,:;TQZ@/=&%#'\"{}[]()|>*?!~^$ \t\n\x00\x7fabcdefghijklmnopqrstuvwxyzSRé٣\U0001d7d8\u2011\ud800\u2028"
)


def random_text(random: Random) -> str:
    """Noise, or something valid with a few letters changed, dropped, doubled or joined to another."""
    if random.random() < 0.3:
        return "".join(random.choices(ALPHABET, k=random.randint(0, 30)))
    text = list(random.choice(SEEDS))
    for _ in range(random.randint(0, 4)):
        at = random.randrange(len(text) + 1)
        match random.randrange(4):
            case 0:
                text[at : at + random.randint(0, 3)] = random.choices(ALPHABET, k=random.randint(0, 3))
            case 1:
                del text[at : at + random.randint(1, 4)]
            case 2:
                text[at:at] = text[at : at + random.randint(1, 8)] * random.randint(1, 9)
            case 3:
                text[at:] = list(random.choice(SEEDS))
    return "".join(text)


def fuzz(name: str, count: int, seed: int) -> int:
    """How many of `count` strings the parser read; fails on any other error than ours, and on slow ones."""
    random, parse, read = Random(seed), PARSERS[name], 0
    for _ in range(count):
        text = random_text(random)
        seconds, is_read = _time_parse(parse, text)
        read += is_read
        for _ in range(ATTEMPTS):
            if seconds <= SLOW_SECONDS:
                break
            seconds, _ = _time_parse(parse, text)
        assert seconds <= SLOW_SECONDS, f"{name} took {seconds:.3f} s for {text!r}"
    return read


def _time_parse(parse: Callable[[str], object], text: str) -> tuple[float, bool]:
    begun = time.perf_counter()
    try:
        parse(text)
    except (ParseError, EntityErrors):
        return time.perf_counter() - begun, False
    return time.perf_counter() - begun, True


@pytest.mark.parametrize("name", PARSERS)
def test_random_strings_give_only_our_error(name: str) -> None:
    assert 0 <= fuzz(name, 10_000, seed=5) < 10_000


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", PARSERS)
def test_a_million_random_strings(name: str) -> None:
    assert 0 <= fuzz(name, 1_000_000, seed=6) < 1_000_000


if __name__ == "__main__":
    for parser in sys.argv[1:] or PARSERS:
        print(f"{parser:14} {fuzz(parser, 1_000_000, seed=6):8} of 1000000 read")
