"""Random GraphQL requests and run configurations: the guard always answers, soon, and refuses what is the operator's.

The oracle knows by construction whether a configuration has a part of the operator's.
"""

from __future__ import annotations

import json
import time
from random import Random
from typing import Any

import pytest
import yaml

from tests.console.dagster_server.test_launch_guard import spellings
from tests.seeds import chunks
from tests.system.test_run_config import PLAIN, REFUSED
from tidemark.console.dagster_server.query_guard import _json, _mutations
from tidemark.system.http_guard import Refusal

SECONDS = 2.0
NAMES = (
    "ops",
    "config",
    "resources",
    "execution",
    "env",
    "runConfigData",
    "tags",
    "key",
    "a",
    "\ud83c\udf89",
    "<<",
    "",
)
SCALARS: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    2**70,
    "",
    "x",
    "&a",
    "*a",
    "- {",
    "\x00",
    "\u2028",
    "$x",
    "'",
    '"""',
)
# GraphQL has no names with dots: such a literal is not a query.
_REFUSED = [given for given in REFUSED if "." not in json.dumps(given) and len(json.dumps(given)) < 5_000]
PIECES = (
    "{",
    "}",
    "(",
    ")",
    "$a",
    "...",
    "...F",
    "fragment F on X ",
    "mutation ",
    "query ",
    "[",
    "]",
    '"',
    '"""',
    "@a",
    "#",
    "\\",
)


def anything(chance: Random, depth: int = 0) -> Any:
    kind = chance.random()
    if depth > 5 or kind < 0.4:
        return chance.choice(SCALARS)
    if kind < 0.7:
        return {chance.choice(NAMES): anything(chance, depth + 1) for _ in range(chance.randrange(5))}
    return [anything(chance, depth + 1) for _ in range(chance.randrange(5))]


def config_of(chance: Random) -> tuple[Any, bool]:
    """A configuration, and whether it must be refused."""
    refused = chance.random() < 0.5
    config = chance.choice(_REFUSED if refused else PLAIN)
    if isinstance(config, dict) and chance.random() < 0.5:
        return yaml.safe_dump(config, default_flow_style=chance.random() < 0.5), refused
    return config, refused


def broken(chance: Random, text: str) -> str:
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(PIECES) * chance.choice((1, 1, 1, 50)) + text[at + chance.randrange(4) :]
    return text


def ask(chance: Random) -> None:
    config, refused = config_of(chance)
    kind = chance.random()
    is_well_formed = 0.4 <= kind <= 0.9
    beside = chance.choice(SCALARS) if is_well_formed else anything(chance)
    request = chance.choice(spellings({"selector": beside, "runConfigData": config}))
    if kind < 0.3:
        request = {**request, "query": broken(chance, request["query"])}
    elif kind < 0.4:
        request = {**request, chance.choice(("query", "variables", "operationName")): anything(chance)}
    body = json.dumps(request)
    if kind > 0.9:
        body = broken(chance, body)
    begun = time.process_time()
    answer = _mutations(_json(body.encode("utf-8", "surrogatepass")))
    assert time.process_time() - begun < SECONDS, body
    assert isinstance(answer, Refusal | frozenset)
    if is_well_formed:
        assert isinstance(answer, Refusal) is refused, body


def ask_many(first: int, count: int) -> None:
    for seed in range(first, first + count):
        try:
            ask(Random(seed))
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


def test_any_request_is_answered() -> None:
    ask_many(100, 300)


@pytest.mark.long
@pytest.mark.parametrize("first", chunks(1_000, 5_000, 20_000))
def test_twenty_thousand_requests_are_answered(first: int) -> None:
    ask_many(first, 5_000)
