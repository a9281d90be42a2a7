"""Objects in other systems that are made from an entity's slices and refreshed slice by slice (C7).

`target` is a name of the setting `refresh_targets`. Texts with placeholders (`slice_text.py`) name the object of one
slice: `{key}`, the `{hour}`, `{day}`, `{month}`, `{quarter}` and `{year}` that contain it, `{region}` of its
sub-partition.
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
"""Keys of objects that a target refreshes; a webhook uses none of them."""


@dataclass(frozen=True, slots=True, config=STRICT)
class Refresh:
    """A `table` has the slices' rows, a `view` is materialized in the target; `keys` and `tags` are of a cache.

    When a slice is invalid, its rows are removed from the table, unless `when_invalid` is `keep`.
    """

    target: RefreshTargetField
    table: _Relation | None = None
    view: _Relation | None = None
    keys: _Texts = ()
    tags: _Words = ()
    paths: _Paths = ()
    when_invalid: Literal["remove", "keep"] = "remove"

    def texts(self) -> Iterator[str]:
        """All texts that name objects of a slice."""
        yield from (*self.keys, *self.tags, *self.paths)

    def named(self) -> set[str]:
        """The placeholders of its texts."""
        return {name for text in self.texts() for name, _ in placeholders(text)}

    def used(self) -> list[str]:
        """The keys that are set, of all that name refreshed objects."""
        return [key for key in REFRESHED if getattr(self, key)]
