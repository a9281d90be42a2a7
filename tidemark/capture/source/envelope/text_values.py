"""Values as the server prints them, Canal's form, to the lake's types."""

_DECODED = {
    "STRING": "{}",
    # Bytes come as the characters of the same numbers.
    "BINARY": "encode({}, 'ISO-8859-1')",
}


def text_decode(delta: str) -> str:
    """SQL that reads a printed value `{}` as the Delta type; TRY_CAST gives NULL for one that is no such value.

    A TIMESTAMP is printed in the zone of Canal's JVM, which has to be UTC as the session's is.
    """
    return _DECODED.get(delta, f"TRY_CAST({{}} AS {delta})")
