"""Converts printed values, which Canal sends, to the lake's types."""

from typing import Final

DECIMAL_TEXT: Final = "IF(length({0}) <= 128 AND NOT {0} RLIKE '[eE][+-]?0*[1-9][0-9][0-9]', {0}, NULL)"
"""SQL of the text `{0}` of a decimal number; NULL if reading it would take minutes or end the job. The longest decimal
of a database has 65 digits. An exponent, which Java prints for small numbers, has two."""

# Years 0001 to 9999: Python and the server have no other dates.
_TIME_TEXT: Final = "IF(substring({0}, 5, 1) = '-' AND {0} >= '0001', {0}, NULL)"

_DECODED: Final = {
    "STRING": "{0}",
    # Each byte comes as the character with the same number.
    "BINARY": "encode({0}, 'ISO-8859-1')",
    **{kind: f"TRY_CAST({_TIME_TEXT} AS {kind})" for kind in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ")},
}


def text_decode(delta: str) -> str:
    """SQL that reads a printed value `{0}` as the Delta type; NULL if the value is invalid.

    Canal prints a TIMESTAMP in its JVM's zone, which has to be UTC like the session's.
    """
    text = DECIMAL_TEXT if delta.startswith("DECIMAL") else "{0}"
    return _DECODED.get(delta, f"TRY_CAST({text} AS {delta})")
