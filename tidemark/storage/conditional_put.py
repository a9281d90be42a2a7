"""Whether the lake's store refuses a put of what is there already: what two writers of one table are safe by."""

import uuid

from tidemark.storage.errors import UnsafeStoreError
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import RemoteLocation


def require_conditional_put(lake: RemoteLocation) -> None:
    """Put a file twice if absent, and delete it.

    Raises UnsafeStoreError where the second put took the first one's place, StorageRefusedError and StorageDownError.
    """
    store, name = stored_files(lake), f"_conditional_put-{uuid.uuid4().hex}"
    try:
        is_refused = store.put_if_absent(name, b"first") and not store.put_if_absent(name, b"second")
    finally:
        store.delete([name])
    if not is_refused:
        raise UnsafeStoreError.of(lake)
