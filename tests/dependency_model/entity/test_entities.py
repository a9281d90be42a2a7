"""Entities by name: an unknown one is named with those like it, and asking whether there is one costs nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.dependency_model.world import entity
from tidemark.dependency_model.entity import entities as module
from tidemark.dependency_model.entity.dependency import Dependency
from tidemark.dependency_model.entity.entities import Entities
from tidemark.dependency_model.entity.entity import EntityState
from tidemark.errors import UnknownEntityError

ENTITIES = Entities([entity("dwd_orders", "{period: day}"), entity("dwd_users", "{period: day}")])


def test_an_unknown_entity_is_answered_with_one_like_it() -> None:
    with pytest.raises(UnknownEntityError, match="dwd_orders"):
        ENTITIES["dwd_order"]


def test_an_optional_look_up_searches_no_similar_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def compare(*_: object) -> str:
        raise AssertionError("each unknown name was compared with all: reading a project took the square of its size")

    monkeypatch.setattr(module, "did_you_mean", compare)
    assert ENTITIES.get("dwd_order") is None
    assert ENTITIES.get("dwd_order", ENTITIES["dwd_users"]).name == "dwd_users"
    assert ENTITIES.get("dwd_orders").name == "dwd_orders"


def test_with_states_equals_replace() -> None:
    orders = entity("orders", "{period: day, owner: me, quality: [{not_null: [a]}]}")
    states = (EntityState("completed", (Dependency("users"),)),)
    assert orders.with_states(states) == replace(orders, states=states)
    assert orders.states != states
