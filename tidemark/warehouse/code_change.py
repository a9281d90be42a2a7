"""The effect of a change of an entity's code:

none, another rule, an additional column, and so on to a breaking one (D4).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.code_change.query_change import ALL_COLUMNS, query_change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tidemark.dependency_model.code_change.query_change import QueryChange
    from tidemark.warehouse.code_version import EntityCode

    IsRead = Callable[[str], bool]


class ChangeKind(Enum):
    """From a change without effect on rows to a change that breaks readers.

    `UNKNOWN`: the older code was not stored.
    """

    NONE = "none"
    RULES = "rules"
    ADDITIVE = "additive"
    RENAMED = "renamed"
    CHANGED = "changed"
    BREAKING = "breaking"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class CodeChange:
    """`columns` have other values, or were added or removed (`*` for all); `words` describe the change.

    `added` are columns that slices of the older code do not have: they are NULL until the slices are computed again.
    """

    kind: ChangeKind
    columns: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    outdates: bool = False
    """Whether slices of the older code may differ from results of the present code."""


_LONGEST: Final = 120
_DEFAULT_SETTINGS: Final = re.compile(r"(?:severity='block'|where=None|quarantine=False)(?:, )?")
NO_CHANGE: Final = CodeChange(ChangeKind.NONE)
UNKNOWN_CHANGE: Final = CodeChange(
    ChangeKind.UNKNOWN, frozenset({ALL_COLUMNS}), ("its code was not kept",), outdates=True
)


def code_change(old: EntityCode, new: EntityCode, is_read: IsRead, goes_by_clock: Callable[[], bool]) -> CodeChange:
    """The change from a slice's code to the present code. `is_read` says whether a downstream query reads a column.

    `goes_by_clock` says whether the present code gives other rows on UTC's clock than on its own.
    """
    declared = [*_differences(old.rows, new.rows), *_function_words(old, new)]
    if old.clock != new.clock and goes_by_clock():
        declared.append(f"it runs by the clock of {new.clock}, and ran by that of {old.clock}")
    if declared or bool(old.query) != bool(new.query):
        how = () if declared else ("a query in place of a function" if new.query else "a function in place of a query",)
        return CodeChange(ChangeKind.CHANGED, frozenset({ALL_COLUMNS}), (*declared, *how), outdates=True)
    change = query_change(old.query, new.query)
    if change:
        return CodeChange(_kind(change, is_read), change.columns, tuple(_words(change, is_read)), change.added, True)  # noqa: FBT003
    rules = tuple(_rule_differences(old.rules, new.rules))
    return CodeChange(ChangeKind.RULES, words=rules) if rules else NO_CHANGE


def upstream_change(old: EntityCode, new: EntityCode, is_used: Callable[[str, str], bool]) -> tuple[str, ...]:
    """The changes of other systems' tables, in words: removed columns that the query uses.

    `is_used` says whether the query uses a column of a table. Existing slices keep their rows, but the next ones cannot
    be computed.
    """
    both = [
        (table, old.outside[table].split(), new.outside[table].split()) for table in old.outside if table in new.outside
    ]
    gone = ((table, name) for table, before, after in both for name in before if name not in after)
    return tuple(f"{table}.{name} is gone, and is read" for table, name in gone if is_used(table, name))


def _kind(change: QueryChange, is_read: IsRead) -> ChangeKind:
    lost = [*change.removed, *(old for old, _ in change.renamed)]
    if change.retyped or any(map(is_read, lost)):
        return ChangeKind.BREAKING
    if change.is_everything or change.changed or change.removed:
        return ChangeKind.CHANGED
    return ChangeKind.RENAMED if change.renamed else ChangeKind.ADDITIVE


def _words(change: QueryChange, is_read: IsRead) -> Iterator[str]:
    if change.is_everything:
        yield "its rows"
    yield from (f"{name} has another expression" for name in change.changed)
    yield from (f"{name} has another type" for name in change.retyped)
    yield from (f"{old} is now {new}{_reading(old, is_read)}" for old, new in change.renamed)
    yield from (f"{name} is gone{_reading(name, is_read)}" for name in change.removed)
    yield from (f"{name} is new" for name in change.added)


def _reading(name: str, is_read: IsRead) -> str:
    return ", and is read" if is_read(name) else ""


def _differences(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    names = dict.fromkeys((*old, *new))
    return [f"{name}: {_short(old, name)} -> {_short(new, name)}" for name in names if old.get(name) != new.get(name)]


def _rule_differences(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Rules that come or go, without their default settings; other differences as they are."""
    yield from _differences(*({name: text for name, text in code.items() if name != "quality"} for code in (old, new)))
    before, after = ([*filter(None, code.get("quality", "").split("; "))] for code in (old, new))
    for there, others, word in ((before, after, "gone"), (after, before, "new")):
        for rule in there:
            if rule not in others:
                name, _, settings = rule.partition("(")
                shown = f"{name.lower()}({_DEFAULT_SETTINGS.sub('', settings)}"
                yield f"quality: {shown if len(shown) <= _LONGEST else f'{shown[:_LONGEST]}...'} is {word}"


def _short(values: Mapping[str, str], name: str) -> str:
    text = values.get(name, "none")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _function_words(old: EntityCode, new: EntityCode) -> list[str]:
    files = sorted({*old.function, *new.function})
    changed = [file for file in files if old.function.get(file) != new.function.get(file)]
    return [f"{file or 'its function'} has changed" for file in changed]
