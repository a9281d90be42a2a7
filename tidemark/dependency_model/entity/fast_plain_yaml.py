"""A fast reader for declarations of a few plain lines, which most declarations are.

It reads the same values as YAML (a property test compares the two). At the first sign of anything else (block texts,
nesting, comments behind values, escapes, letters beyond ASCII) it returns None, and the general parser reads the file.

It exists for its speed: one declaration takes 138 us with LibYAML's events and 42 us here. Every command reads all
declarations first. For 80,000 entities that is 11 seconds or 3.4 (benchmark `graph`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from tidemark.dependency_model.entity.yaml_document import scalar

_LENGTH_LIMIT = 16 * 1024
_PRINTABLE = re.compile(r"[\n -~]*")
_LINE = re.compile(r"([a-z_]{1,40}):(?: +(\S.*))?")
_PLAIN = re.compile(r"(?:[A-Za-z0-9_./(]|-(?=\d))(?:[^:#]|:(?=[^ ])|(?<=[^ ])#)*")
_QUOTED = re.compile(r'"([^"\\]*)"|\'([^\']*)\'')

_FLOW_SCALAR = r"""(?:"[^"\\]*"|'[^']*'|(?:[A-Za-z0-9_.]|-(?=\d))(?:[A-Za-z0-9_./%+-]| (?=[A-Za-z0-9_./%+-]))*)"""
_FLOW_LIST = re.compile(rf"\[(?:{_FLOW_SCALAR}(?:, {_FLOW_SCALAR})*)?\]")
_FLOW_PAIR = rf"[a-z_]{{1,40}}: {_FLOW_SCALAR}"
_FLOW_MAP = re.compile(rf"\{{(?:{_FLOW_PAIR}(?:, {_FLOW_PAIR})*)?\}}")
_ITEM = re.compile(_FLOW_SCALAR)
_DEPENDENCY = re.compile(rf"\{{entity: ([A-Za-z_][A-Za-z0-9_.]*)(?:, (offset|dates): ({_FLOW_SCALAR}))?\}}")
"""The form of nearly every dependency."""
_PAIR = re.compile(rf"([a-z_]{{1,40}}): ({_FLOW_SCALAR})")


class _NotPlainError(Exception):
    """The text needs the general parser."""


def read_plain(text: str) -> dict[str, Any] | None:
    """The values of a plain declaration; None if it is not plain."""
    if len(text) > _LENGTH_LIMIT or not _PRINTABLE.fullmatch(text):
        return None
    try:
        return _mapping([line for line in text.split("\n") if line and not line.startswith("#")])
    except _NotPlainError:
        return None


def _mapping(lines: list[str]) -> dict[str, Any] | None:
    mapping: dict[str, Any] = {}
    block: str | None = None
    for line in lines:
        if not line.startswith("  - "):
            key, value, is_open = _entry(line)
            if key in mapping:
                raise _NotPlainError
            mapping[key] = value
            block = key if is_open else None
        elif block is None:
            raise _NotPlainError
        elif mapping[block] is None:
            mapping[block] = [_item(line[4:])]
        else:
            mapping[block].append(_item(line[4:]))
    return mapping or None


@lru_cache(maxsize=4096)
def _entry(line: str) -> tuple[str, Any, bool]:
    """The key, the value, and whether a list may follow. Cached, because lines repeat across files;

    callers must not modify values.
    """
    match = _LINE.fullmatch(line)
    if match is None:
        raise _NotPlainError
    return match[1], None if match[2] is None else _value(match[2]), match[2] is None


def _item(text: str) -> Any:
    """The item after a dash: a value, or one key with its value."""
    if not text:
        raise _NotPlainError
    return _flow_mapping(text) if text[0] == "{" else _short_item(text)


@lru_cache(maxsize=4096)
def _short_item(text: str) -> Any:
    if not _LINE.fullmatch(text):
        return _value(text)
    key, value, is_open = _entry(text)
    if is_open:
        raise _NotPlainError
    return {key: value}


def _value(text: str) -> Any:
    first = text[0]
    if first == "{":
        return _flow_mapping(text)
    if first == "[":
        return _flow_list(text)
    if first in "\"'":
        return _unquote(text)
    if not _PLAIN.fullmatch(text) or text[-1] in " :":
        raise _NotPlainError
    return scalar(text)


def _flow_mapping(text: str) -> dict[str, Any]:
    usual = _DEPENDENCY.fullmatch(text)
    if usual:
        name, key, value = usual.groups()
        return {"entity": scalar(name), key: _flow_scalar(value)} if key else {"entity": scalar(name)}
    if not _FLOW_MAP.fullmatch(text):
        raise _NotPlainError
    pairs = _PAIR.findall(text)
    mapping = {key: _flow_scalar(value) for key, value in pairs}
    if len(mapping) != len(pairs):
        raise _NotPlainError
    return mapping


def _flow_list(text: str) -> list[Any]:
    if not _FLOW_LIST.fullmatch(text):
        raise _NotPlainError
    return [_flow_scalar(item) for item in _ITEM.findall(text)]


def _flow_scalar(text: str) -> Any:
    return text[1:-1] if text[0] in "\"'" else scalar(text)


def _unquote(text: str) -> str:
    match = _QUOTED.fullmatch(text)
    if match is None:
        raise _NotPlainError
    return text[1:-1]
