"""What was made of an entity's slices somewhere else, and is refreshed slice by slice (seed capability C7).

`target` is a name of the setting `refresh_targets`. Texts with placeholders (`slice_text.py`) name what was made of one
slice: `{key}`, the hour, day, month, quarter and year that it lies in, `{region}` of its part.
"""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints
from pydantic.dataclasses import dataclass

from tidemark.dependency_model.entity.field_types import STRICT, RefreshTargetField
from tidemark.dependency_model.entity.probe import SliceText
from tidemark.dependency_model.entity.slice_text import placeholders

_Texts = Annotated[tuple[SliceText, ...], Field(max_length=100)]
_Word = Annotated[SliceText, StringConstraints(pattern=r"^[!-~]+$")]
_Words = Annotated[tuple[_Word, ...], Field(max_length=100)]
_Paths = Annotated[tuple[Annotated[_Word, StringConstraints(pattern=r"^/")], ...], Field(max_length=100)]
_Relation = Annotated[str, StringConstraints(min_length=1, max_length=63)]
REFRESHED: Final = ("table", "view", "keys", "tags", "paths")
"""What a target refreshes; of a webhook none."""


@dataclass(frozen=True, slots=True, config=STRICT)
class Refresh:
    """`table` holds the slices' rows, `view` is materialized from tables of the target; `keys` and `tags` of a cache.

    Of an invalid slice the rows of the table are removed, unless they are to `keep`.
    """

    target: RefreshTargetField
    table: _Relation | None = None
    view: _Relation | None = None
    keys: _Texts = ()
    tags: _Words = ()
    paths: _Paths = ()
    when_invalid: Literal["remove", "keep"] = "remove"

    def texts(self) -> Iterator[str]:
        """All that name what was made of a slice."""
        yield from (*self.keys, *self.tags, *self.paths)

    def named(self) -> set[str]:
        """The placeholders of its texts."""
        return {name for text in self.texts() for name, _ in placeholders(text)}

    def used(self) -> list[str]:
        """Which of its keys say what is refreshed."""
        return [key for key in REFRESHED if getattr(self, key)]
