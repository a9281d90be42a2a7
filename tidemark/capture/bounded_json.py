"""Reads JSON from outside with limits on length and depth, and raises one kind of error."""

import json
from typing import Final

# The declaration of a table with MySQL's maximum of 4,096 columns has about 2 MB.
MAX_CHARACTERS: Final = 16_000_000


class UnreadableJsonError(ValueError):
    """A text that is not JSON, or is too long or nested too deeply. `str()` gives the reason."""


def parse_json(text: str, max_characters: int = MAX_CHARACTERS) -> object:
    """The value of a JSON text of at most `max_characters`. Raises UnreadableJsonError."""
    if len(text) > max_characters:
        raise UnreadableJsonError(f"{len(text)} characters of JSON, more than {max_characters}")
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableJsonError(f"{error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise UnreadableJsonError("JSON is nested too deeply") from error
    except ValueError as error:
        raise UnreadableJsonError(f"a value cannot be read: {error}") from error
    return value
