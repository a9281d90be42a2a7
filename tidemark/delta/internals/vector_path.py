"""The path of a deletion vector's file, by its description in the log (Delta protocol, "Deletion Vectors")."""

import uuid
from collections.abc import Mapping

# ZeroMQ's Z85.
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_UUID_DIGITS = 20


def vector_path(vector: Mapping[str, object]) -> str | None:
    """The file's path in the table's folder; None if the vector is inline or has an absolute path."""
    if vector["storageType"] != "u":
        return None
    text = str(vector["pathOrInlineDv"])
    folder, encoded = text[:-_UUID_DIGITS], text[-_UUID_DIGITS:]
    name = f"deletion_vector_{uuid.UUID(bytes=_decode_z85(encoded))}.bin"
    return f"{folder}/{name}" if folder else name


def _decode_z85(text: str) -> bytes:
    groups = (text[at : at + 5] for at in range(0, len(text), 5))
    return b"".join(_number(group).to_bytes(4, "big") for group in groups)


def _number(group: str) -> int:
    value = 0
    for digit in group:
        value = value * 85 + _DIGITS.index(digit)
    return value
