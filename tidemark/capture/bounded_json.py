"""JSON that came from outside, read in Python: bounded in length and depth, and one error for whatever is wrong."""

import json
from typing import Final

# The declaration of a table with MySQL's 4,096 columns is some 2 MB.
MAX_CHARACTERS: Final = 16_000_000


class UnreadableJsonError(ValueError):
    """A text that is no JSON, or one too long or too deep to be read. `str()` says which."""


def parse_json(text: str, max_characters: int = MAX_CHARACTERS) -> object:
    """The JSON value. Raises UnreadableJsonError."""
    if len(text) > max_characters:
        raise UnreadableJsonError(f"{len(text)} characters of JSON, more than {max_characters}")
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableJsonError(f"{error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise UnreadableJsonError("JSON that is nested too deeply") from error
    except ValueError as error:
        raise UnreadableJsonError(f"a value that cannot be read: {error}") from error
    return value
