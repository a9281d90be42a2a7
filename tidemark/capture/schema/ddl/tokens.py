"""A statement as MySQL's words, by sqlglot's tokenizer: its parser knows few of the clauses of an ALTER."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import sqlglot.errors
from sqlglot.dialects.mysql import MySQL
from sqlglot.tokens import TokenType  # type: ignore[attr-defined]  # sqlglot names it there

MAX_CHARACTERS: Final = 256 * 1024
"""Of a statement that is looked into; more is not read from where it lies."""

# What servers execute although it is a comment: `/*!50100 PARTITION BY ... */`, MariaDB's also `/*M! ... */`.
_EXECUTED: Final = re.compile(r"/\*M?!\d*")
_WORD: Final = re.compile(r"[\w$]+")
_NUMBERS: Final = frozenset({TokenType.NUMBER})
_TEXTS: Final = frozenset({TokenType.STRING})

Kind = Literal["word", "name", "text", "number", "sign"]


class UnreadableStatementError(ValueError):
    """A text that is no sequence of MySQL's words. `str()` says why."""


@dataclass(frozen=True)
class Word:
    """One token: `word` may be a keyword or a name, `name` is a quoted one, `sign` everything else."""

    kind: Kind
    text: str

    def is_(self, *keywords: str) -> bool:
        """Whether it is one of these keywords."""
        return self.kind == "word" and self.text.upper() in keywords

    @property
    def is_name(self) -> bool:
        """Whether it can name something."""
        return self.kind in {"word", "name"}


def words_of(sql: str) -> list[Word]:
    """The words of a statement without its comments. Raises UnreadableStatementError."""
    if len(sql) > MAX_CHARACTERS:
        raise UnreadableStatementError(f"a statement of {len(sql):,} characters")
    try:
        # Behind a word of its own: the tokenizer takes what follows a few first words (RENAME) for one text.
        tokens = MySQL().tokenize("_ " + _with_executed_comments(sql).rstrip("; \t\r\n"))[1:]
    except sqlglot.errors.SqlglotError as error:
        raise UnreadableStatementError(str(error).splitlines()[0]) from error
    return [word for token in tokens for word in _split(Word(_kind(token.token_type, token.text), token.text))]


def _with_executed_comments(sql: str) -> str:
    """The text with what stands in comments that servers execute, in one go through it."""
    parts, at = [], 0
    while opening := _EXECUTED.search(sql, at):
        end = sql.find("*/", opening.end())
        if end < 0:
            break  # nor does a later one end
        parts += [sql[at : opening.start()], f" {sql[opening.end() : end]} "]
        at = end + 2
    return "".join([*parts, sql[at:]])


def _split(word: Word) -> list[Word]:
    """`PARTITION BY`, which the tokenizer takes for one, is two."""
    parts = word.text.split() if word.kind == "sign" else []
    return [Word("word", part) for part in parts] if len(parts) > 1 else [word]


def _kind(token_type: TokenType, text: str) -> Kind:
    if token_type in _TEXTS:
        return "text"
    if token_type in _NUMBERS:
        return "number"
    if token_type is TokenType.IDENTIFIER:
        return "name"
    return "word" if _WORD.fullmatch(text) else "sign"


class Cursor:
    """Goes through words from left to right."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self._at >= len(self._words)

    @property
    def rest(self) -> Sequence[Word]:
        """What is left."""
        return self._words[self._at :]

    def peek(self) -> Word:
        """The next word; an empty sign at the end."""
        return Word("sign", "") if self.is_at_end else self._words[self._at]

    def next(self) -> Word:
        """The next word, and go on behind it."""
        word = self.peek()
        self._at += 1
        return word

    def take(self, *keywords: str) -> bool:
        """Go behind these keywords if they come next, one after the other."""
        ahead = self._words[self._at : self._at + len(keywords)]
        matches = len(ahead) == len(keywords) and all(
            word.is_(keyword) for word, keyword in zip(ahead, keywords, strict=True)
        )
        self._at += len(keywords) if matches else 0
        return matches

    def take_any(self, *keywords: str) -> bool:
        """Go behind one of these keywords if it comes next."""
        return any(self.take(keyword) for keyword in keywords)

    def take_sign(self, sign: str) -> bool:
        """Go behind the sign if it comes next."""
        word = self.peek()
        matches = word.kind == "sign" and word.text == sign
        self._at += matches
        return matches

    def table(self, database: str) -> str | None:
        """`<database>.<table>` of the name that comes next; None where no name comes."""
        first = self.next()
        if not first.is_name:
            return None
        if not self.take_sign("."):
            return f"{database}.{first.text}"
        second = self.next()
        return f"{first.text}.{second.text}" if second.is_name else None

    def parentheses(self) -> Sequence[Word] | None:
        """The words inside of the parentheses that come next; None where none come, or they do not end."""
        if not self.take_sign("("):
            return None
        start, depth = self._at, 1
        while depth and not self.is_at_end:
            word = self.next()
            depth += (word.kind == "sign" and word.text == "(") - (word.kind == "sign" and word.text == ")")
        return None if depth else self._words[start : self._at - 1]


def between_commas(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The parts between commas that are in no parentheses."""
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
    """Everything that could be the name of a table, also what is none."""
    names: list[str] = []
    for at, word in enumerate(words):
        if word.kind in {"sign", "number"}:
            continue
        names.append(f"{database}.{word.text}")
        is_qualified = at >= 2 and words[at - 1] == Word("sign", ".")
        names += [f"{words[at - 2].text}.{word.text}"] if is_qualified else []
    return list(dict.fromkeys(names))
