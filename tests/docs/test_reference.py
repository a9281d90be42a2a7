"""The reference pages are as the code is, name every key, and their examples are taken by the parser."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from tests.docs.declared_keys import INTERNAL, OFFSETS, PARAMETERS, SECTIONS, Section
from tests.docs.error_messages import error_classes
from tests.docs.reference import FOLDER, pages
from tests.docs.setting_words import SETTINGS
from tests.parsed import ONE_PROCESS
from tidemark.dependency_model.entity.entity_parser import parse_entity
from tidemark.dependency_model.entity.quality_rules import RULES, QualityRule
from tidemark.dependency_model.lineage.business_time_parameters import parameter_names
from tidemark.dependency_model.offset import Offset
from tidemark.dependency_model.time.period import Period
from tidemark.error_codes import CODES, GROUPS
from tidemark.system.settings import Settings

pytestmark = ONE_PROCESS

EXAMPLES = [
    pytest.param(key.example, name, id=f"{section.model.__name__}.{name}")
    for section in SECTIONS
    for name, key in section.keys.items()
]


@pytest.mark.parametrize("name", list(pages()))
def test_a_page_is_as_the_code_is(name: str) -> None:
    """Where a change is meant: `python -m tests.docs.reference`."""
    assert (FOLDER / name).read_text(encoding="utf-8") == pages()[name]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.model.__name__)
def test_every_key_of_a_model_is_named(section: Section) -> None:
    of_every_rule = {field.name for field in fields(QualityRule)} if section.model in RULES.values() else set()
    assert set(section.keys) == {field.name for field in fields(section.model)} - INTERNAL - of_every_rule


def test_every_rule_and_every_setting_is_named() -> None:
    assert set(RULES.values()) <= {section.model for section in SECTIONS}
    assert set(SETTINGS) == set(Settings.model_fields)
    assert {name for period in Period for name in parameter_names(period)} == {name for name, _, _ in PARAMETERS}


@pytest.mark.parametrize(("example", "name"), EXAMPLES)
def test_an_example_is_taken_and_has_its_key(example: str, name: str) -> None:
    assert parse_entity(example, "example").name == "example"
    assert name in example or name in {"columns", "entity"}


@pytest.mark.parametrize("text", [text for text, _ in OFFSETS])
def test_an_offset_is_read(text: str) -> None:
    assert Offset.parse(text)


def test_every_error_has_a_code_of_its_own() -> None:
    classes = error_classes()
    assert set(CODES) == set(classes)
    assert len(set(CODES.values())) == len(CODES)
    assert {code[:4] for code in CODES.values()} <= set(GROUPS)
    assert all(re.fullmatch(r"TM\d{4}", code) for code in CODES.values())
    assert all(classes.values()), "each class says what it means"
