"""A statement as MySQL tokens, by sqlglot's tokenizer. Its parser knows few clauses of an ALTER."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import sqlglot.errors
from sqlglot.dialects.mysql import MySQL
from sqlglot.tokens import TokenType  # type: ignore[attr-defined]  # sqlglot names it there

MAX_CHARACTERS: Final = 256 * 1024
"""The most characters of a statement that is read; longer ones are not even loaded."""

MOST_TOKENS: Final = 100_000
"""The most words and signs of a statement that is read: 4,096 columns, MySQL's maximum, need fewer."""
_TOKEN: Final = re.compile(r"[\w$]+|[^\w$\s]")

# Comments that servers execute, `/*!50100 PARTITION BY ... */` or MariaDB's `/*M! ... */`, outside texts, names and
# other comments.
_PIECE: Final = re.compile(
    r"""'(?:[^'\\]++|\\.|'')*+'|"(?:[^"\\]++|\\.|"")*+"|`[^`]*+`"""
    r"""|(?P<executed>/\*(?P<mariadb>M?)!(?P<version>\d{0,6})(?P<inside>(?:[^*]++|\*(?!/))*+)(?:\*/|\Z))"""
    r"""|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)|(?:--(?=\s|$)|\#)[^\n]*+""",
    re.DOTALL,
)
_EVERY_SERVER: Final = 50_700
"""MySQL and MariaDB execute comments for versions up to this one; only some servers execute later ones."""
_WORD: Final = re.compile(r"[\w$]+")
_NUMBERS: Final = frozenset({TokenType.NUMBER})
_TEXTS: Final = frozenset({TokenType.STRING})
_BITS: Final = frozenset({TokenType.BIT_STRING})

Kind = Literal["word", "name", "text", "number", "bits", "sign"]


class UnreadableStatementError(ValueError):
    """A text that cannot be split into MySQL's tokens. `str()` gives the reason."""


@dataclass(frozen=True)
class Word:
    """One token: `word` may be a keyword or a name, `name` is quoted, `bits` are `b'1'`, `sign` is everything else."""

    kind: Kind
    text: str

    def is_(self, *keywords: str) -> bool:
        """Whether it is one of these keywords."""
        return self.kind == "word" and self.text.upper() in keywords

    @property
    def is_name(self) -> bool:
        """Whether it can name something."""
        return self.kind in {"word", "name"}


def readings_of(sql: str) -> list[list[Word]]:
    """The possible token lists of a statement without its comments. They depend on the server and its sql_mode.

    Raises UnreadableStatementError if there is none.
    """
    if len(sql) > MAX_CHARACTERS:
        raise UnreadableStatementError(f"a statement of {len(sql):,} characters")
    if any(number >= MOST_TOKENS for number, _ in enumerate(_TOKEN.finditer(sql))):
        raise UnreadableStatementError(f"a statement of more than {MOST_TOKENS:,} words and signs")
    # With NO_BACKSLASH_ESCAPES a backslash is an ordinary character.
    written = {sql, sql.replace("\\", "\\\\")}
    texts = {_executed(text, is_newest=is_newest) for text in written for is_newest in (True, False)}
    readings: list[list[Word]] = []
    problem = ""
    for text in sorted(texts):
        try:
            words = _words(text)
        except sqlglot.errors.SqlglotError as error:
            problem = str(error).splitlines()[0]
        else:
            readings += [words] if words not in readings else []
    if not readings:
        raise UnreadableStatementError(problem)
    return readings


def _executed(sql: str, *, is_newest: bool) -> str:
    """The statement as executed by the newest server, or only with the comments that every server executes."""

    def inside(piece: re.Match[str]) -> str:
        if piece["executed"] is None:
            return piece[0]
        is_everywhere = not piece["mariadb"] and int(piece["version"] or 0) <= _EVERY_SERVER
        return f" {piece['inside']} " if is_newest or is_everywhere else " "

    return _PIECE.sub(inside, sql)


def _words(sql: str) -> list[Word]:
    # A word goes first, because the tokenizer turns everything after some first words (RENAME) into one text.
    tokens = MySQL().tokenize("_ " + sql.rstrip("; \t\r\n"))[1:]
    return [word for token in tokens for word in _split(Word(_kind(token.token_type, token.text), token.text))]


def _split(word: Word) -> list[Word]:
    """The words of a token: the tokenizer returns `PARTITION BY` as one."""
    parts = word.text.split() if word.kind == "sign" else []
    return [Word("word", part) for part in parts] if len(parts) > 1 else [word]


def _kind(token_type: TokenType, text: str) -> Kind:
    if token_type in _TEXTS:
        return "text"
    if token_type in _NUMBERS:
        return "number"
    if token_type in _BITS:
        return "bits"
    if token_type is TokenType.IDENTIFIER:
        return "name"
    return "word" if _WORD.fullmatch(text) else "sign"


class Cursor:
    """Reads tokens from left to right."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        """Whether no tokens are left."""
        return self._at >= len(self._words)

    @property
    def rest(self) -> Sequence[Word]:
        """The remaining tokens."""
        return self._words[self._at :]

    def peek(self) -> Word:
        """The next token; an empty sign at the end."""
        return Word("sign", "") if self.is_at_end else self._words[self._at]

    def next(self) -> Word:
        """The next token; the cursor moves past it."""
        word = self.peek()
        self._at += 1
        return word

    def take(self, *keywords: str) -> bool:
        """Move past these keywords if they come next in this order. Returns whether they did."""
        ahead = self._words[self._at : self._at + len(keywords)]
        matches = len(ahead) == len(keywords) and all(
            word.is_(keyword) for word, keyword in zip(ahead, keywords, strict=True)
        )
        self._at += len(keywords) if matches else 0
        return matches

    def take_any(self, *keywords: str) -> bool:
        """Move past one of these keywords if it comes next. Returns whether it did."""
        return any(self.take(keyword) for keyword in keywords)

    def take_sign(self, sign: str) -> bool:
        """Move past the sign if it comes next. Returns whether it did."""
        word = self.peek()
        matches = word.kind == "sign" and word.text == sign
        self._at += matches
        return matches

    def table(self, database: str) -> str | None:
        """The next name as `<database>.<table>`; None if the next token is not a name."""
        first = self.next()
        if not first.is_name:
            return None
        if not self.take_sign("."):
            return f"{database}.{first.text}"
        second = self.next()
        return f"{first.text}.{second.text}" if second.is_name else None

    def parentheses(self) -> Sequence[Word] | None:
        """The tokens inside the next parentheses; None if there are none, or they do not close."""
        if not self.take_sign("("):
            return None
        start, depth = self._at, 1
        while depth and not self.is_at_end:
            word = self.next()
            depth += (word.kind == "sign" and word.text == "(") - (word.kind == "sign" and word.text == ")")
        return None if depth else self._words[start : self._at - 1]


def between_commas(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The parts between commas outside parentheses."""
    start = depth = 0
    for at, word in enumerate(words):
        if word.kind != "sign":
            continue
        depth += (word.text == "(") - (word.text == ")")
        if word.text == "," and depth == 0:
            yield words[start:at]
            start = at + 1
    yield words[start:]


def mentioned_tables(words: Sequence[Word], database: str) -> list[str]:
    """Every word or text that could be the name of a table, even if it is something else."""
    names: list[str] = []
    for at, word in enumerate(words):
        if word.kind in {"sign", "number", "bits"}:
            continue
        names.append(f"{database}.{word.text}")
        is_qualified = at >= 2 and words[at - 1] == Word("sign", ".")
        names += [f"{words[at - 2].text}.{word.text}"] if is_qualified else []
    return list(dict.fromkeys(names))
