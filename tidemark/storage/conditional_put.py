"""Whether an object store refuses a put of what is there already: what two writers of one table are safe by."""

import uuid
from typing import Final

from tidemark.storage.errors import UnsafeStoreError
from tidemark.storage.object_files import ObjectFiles
from tidemark.system.table_location import ObjectLocation

_FOLDER: Final = "_conditional_put"


def require_conditional_put(lake: ObjectLocation) -> None:
    """Put an object twice if absent, and delete it.

    Raises UnsafeStoreError where the second put took the first one's place, StorageRefusedError and StorageDownError.
    """
    store, name = ObjectFiles(lake / _FOLDER), uuid.uuid4().hex
    try:
        is_refused = store.put_if_absent(name, b"first") and not store.put_if_absent(name, b"second")
    finally:
        store.delete([name])
    if not is_refused:
        raise UnsafeStoreError.of(lake)
