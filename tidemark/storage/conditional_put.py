"""Checks that the lake's store refuses to put an existing file. Two writers of one table are safe only then."""

import uuid

from tidemark.storage.errors import UnsafeStoreError
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import RemoteLocation


def require_conditional_put(lake: RemoteLocation) -> None:
    """Put a file twice with `put_if_absent`, and delete it.

    Raises UnsafeStoreError if the second put replaced the first, StorageRefusedError and StorageDownError.
    """
    store, name = stored_files(lake), f"_conditional_put-{uuid.uuid4().hex}"
    try:
        is_refused = store.put_if_absent(name, b"first") and not store.put_if_absent(name, b"second")
    finally:
        store.delete([name])
    if not is_refused:
        raise UnsafeStoreError.of(lake)
