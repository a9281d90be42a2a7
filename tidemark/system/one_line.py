"""Foreign text as one line: for logs, terminals, chats and every store."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 500
_MENTION: Final = re.compile(r"@(?=[A-Za-z])")
_ANGLES: Final = str.maketrans({"<": "\u2039", ">": "\u203a"})


def one_line(text: str, longest: int = LONGEST) -> str:
    """The text, cut to `longest`, without control characters, line ends and unpaired surrogates."""
    line = "".join(character if character.isprintable() else " " for character in text[: 2 * longest])
    return line.encode("utf-8", "replace").decode()[:longest]


def quiet(text: str) -> str:
    """Lines for chats and mail, without mentions (`<!channel>`, `@here`) and links."""
    lines = (one_line(line, 2_000).translate(_ANGLES) for line in text.splitlines())
    return _MENTION.sub("@\u2060", "\n".join(lines)).replace("://", ":\u2060//")
