"""The files of each partition in a version of a table, and the version that last changed the rows of a partition."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidemark.delta.internals.log_files import commit_actions
from tidemark.delta.logged_partition import logged_value
from tidemark.dependency_model.time.partition_columns import PartitionValue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.delta.delta_rs_table import Partition
    from tidemark.delta.internals.version_content import FileKey, VersionContent
    from tidemark.system.table_location import TableLocation

Values = tuple[PartitionValue | None, ...]
Files = dict["FileKey", "Mapping[str, Any]"]
_ALL: Final = object()


def values_in(logged: Mapping[str, str | None], like: Partition) -> Values:
    """The values of the columns of `like` in a file's partition."""
    return tuple(logged_value(logged.get(name), value) for name, value in like.items())


def files_by_partition(content: VersionContent, like: Partition) -> dict[Values, Files]:
    """The files of each partition by the columns of `like`."""
    found: dict[Values, Files] = defaultdict(dict)
    for key, add in content.files.items():
        found[values_in(add.get("partitionValues") or {}, like)][key] = add
    return found


@dataclass
class LastChanges:
    """The version that last changed the rows of each partition, after version `after`. OPTIMIZE changes no rows."""

    after: int
    _changed: dict[object, int] = field(default_factory=dict)

    @classmethod
    def of(cls, table: TableLocation, like: Partition, after: int, until: int) -> LastChanges:
        """The changes in commits up to `until`. A commit that the log no longer has may have changed all rows."""
        changes = cls(after)
        for version in range(after + 1, until + 1):
            actions = commit_actions(table, version)
            if actions is None:
                changes._changed[_ALL] = version
            for action in actions or ():
                file = action.get("add") or action.get("remove")
                if file and file.get("dataChange", True):
                    logged = file.get("partitionValues")
                    changes._changed[_ALL if logged is None else values_in(logged, like)] = version
        return changes

    def of_partition(self, values: Values) -> int:
        """The version of the last change; `after` if there is none."""
        return max(self._changed.get(values, self.after), self._changed.get(_ALL, self.after))
