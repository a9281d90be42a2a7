"""The text that people read, and the rules of docs/style.md for it.

`python -m tests.prose [PATH ...]` prints every finding, also of rules that `tests/test_prose.py` does not enforce yet.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.parsed import nodes_of, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT: Final = Path(__file__).resolve().parents[1]
CODE: Final = ("tidemark", "warehouse_assets", "sensors", "resources")
PAGES: Final = ("README.md", "ARCHITECTURE.md", "SECURITY.md", "CHANGELOG.md")
NOT_CHECKED: Final = frozenset({"docs/style.md", "docs/glossary.md"})
"""Both pages quote what the rules forbid."""
LONGEST_SENTENCE: Final = 45
"""Words in a sentence."""


@dataclass(frozen=True)
class Text:
    """One docstring, comment, message or paragraph."""

    path: str
    line: int
    kind: str
    words: str


@dataclass(frozen=True)
class Rule:
    """A pattern that makes a sentence hard to read, and the advice for it."""

    name: str
    pattern: str
    advice: str
    kinds: frozenset[str] = frozenset({"docstring", "comment", "message", "page"})

    def finds(self, text: Text) -> bool:
        """Whether a text breaks this rule."""
        prose = re.sub(r"`[^`]*`|\{.*\}|\"[^\"]*\"", "`", text.words)
        return text.kind in self.kinds and re.search(self.pattern, prose) is not None


RULES: Final = (
    Rule(
        "fronted of",
        r"(?:^|[.:;] )Of (?!course|two|three|several|parallel)[a-z]",
        "put the subject first: 'The index of each key'",
    ),
    Rule("so many", r"\b[Ss]o (?:many|often|few)\b(?! (?:as|that)\b)", "name the quantity: 'The most rows in a batch'"),
    Rule(
        "is no",
        r"(?<![Tt]here )\b(?:is|are|was|were|be) (?:no|none)\b(?! (?:longer|more|later|earlier|less|larger|older))",
        "'is not a'",
    ),
    Rule("those that", r"\b[Tt]hose (?:that|which|who)\b", "repeat the noun: 'the rows that'"),
    Rule(
        "who asks",
        r"\bwho (?:asks|tells|reads|waits|has|is|knows)\b.{0,200}?",
        "name the caller, the reader or the user",
    ),
    Rule("told", r"\b(?:told|retold|untold)\b", "'reported', 'passed', 'recorded', or the name of what is sent"),
    Rule("anew", r"\banew\b", "'again', 'from the start', 'new'"),
    Rule("as it stands", r"\bas (?:it|they) stands?\b", "'unchanged', or say which version"),
    Rule("none of a", r"\bnone of an?\b", "'not a'"),
    Rule("nobody", r"\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever)\b", "name the reader, the writer, the process or the user"),
    Rule("come what may", r"\bcome what may\b|\bnor is there\b", "'always', 'never'"),
    Rule("let expect", r"\blets? (?:\w+ )?expect\b", "'differs from the usual pattern'"),
    Rule(
        "one of them",
        r"^(?:One|Some|All|Each|Any|None|Nothing) of (?:them|it|these|those)(?:[.;:,]|$)",
        "name the thing",
        frozenset({"docstring"}),
    ),
    Rule(
        "question",
        r"^(?:What|Which|Who)\b(?!.*\?$)",
        "name the thing: 'The reason', 'The files that'",
        frozenset({"docstring"}),
    ),
)


@cache
def in_file(path: Path) -> tuple[Text, ...]:
    """Every text of one file of code or one page."""
    place = str(path.relative_to(ROOT))
    if path.suffix == ".md":
        return tuple(_paragraphs(place, path.read_text()))
    source = path.read_text()
    tree = tree_of(path)
    documents = {id(node): line for node, line in _docstrings(tree)}
    docstrings = (
        (node.lineno, " ".join(str(node.value).split()))
        for node in nodes_of(tree)
        if isinstance(node, ast.Constant) and id(node) in documents
    )
    kinds = {"docstring": docstrings, "comment": _comments(source), "message": _messages(tree, set(documents))}
    return tuple(Text(place, line, kind, words) for kind, ones in kinds.items() for line, words in ones)


def texts(paths: Sequence[Path] = ()) -> Iterator[Text]:
    """Every text of the product and its pages, or of some files and folders."""
    for path in paths or [ROOT / name for name in (*CODE, *PAGES, "docs")]:
        for file in sorted((*path.rglob("*.py"), *path.rglob("*.md"))) if path.is_dir() else [path]:
            if str(file.relative_to(ROOT)) not in NOT_CHECKED:
                yield from in_file(file)


def findings(texts_: Iterator[Text]) -> Iterator[str]:
    """What breaks a rule: place, rule, advice and text."""
    for text in texts_:
        broken = [f"{rule.name}: {rule.advice}" for rule in RULES if rule.finds(text)]
        broken += [f"a sentence of {words} words: split it" for words in _long_sentences(text)]
        for rule in broken:
            yield f"{text.path}:{text.line}: {rule}\n    {text.words[:300]}"


def _long_sentences(text: Text) -> Iterator[int]:
    if "── " in text.words or "|-- " in text.words:
        return
    if text.kind in ("docstring", "comment") or (text.kind == "page" and not text.words.startswith(("|", "<"))):
        for sentence in re.split(r"(?<=[.!?:;])\s", re.sub(r"Exit codes:.*", "", text.words)):
            words = len(sentence.split())
            if words > LONGEST_SENTENCE:
                yield words


def _docstrings(tree: ast.Module) -> Iterator[tuple[ast.Constant, int]]:
    """Docstrings, and the strings below attributes and constants."""
    for node in nodes_of(tree):
        if not isinstance(node, ast.stmt | ast.Module | ast.ExceptHandler | ast.match_case):
            continue
        for statement in getattr(node, "body", ()):
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value, statement.lineno


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Comments; lines of comments that follow each other are one."""
    start, last, words = 0, -1, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if token.start[0] != last + 1 and words:
            yield start, " ".join(words)
            words = []
        if not words:
            start = token.start[0]
        last = token.start[0]
        words.append(re.sub(r"noqa.*|type: ignore.*", "", token.string.lstrip("# ")))
    if words:
        yield start, " ".join(words)


def _messages(tree: ast.Module, documents: set[int]) -> Iterator[tuple[int, str]]:
    """String literals of three words or more; values in them are written as X."""
    inner = {id(value) for node in nodes_of(tree) if isinstance(node, ast.JoinedStr) for value in node.values}
    for node in nodes_of(tree):
        if isinstance(node, ast.JoinedStr):
            words = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value if id(node) not in documents | inner else ""
        else:
            continue
        if len(re.findall(r"[a-z]{2,} ", words)) >= 2 and "SELECT" not in words:
            yield node.lineno, " ".join(words.split())


def _paragraphs(place: str, page: str) -> Iterator[Text]:
    """Paragraphs, items of lists and rows of tables; not code."""
    start, words, is_code = 0, list[str](), False
    for number, line in enumerate([*page.splitlines(), ""], start=1):
        is_fence = line.lstrip().startswith("```")
        begins = is_fence or is_code or not line.strip() or line.lstrip().startswith(("|", "- ", "* ", "#"))
        if (begins or re.match(r"\s*\d+\. ", line)) and words:
            yield Text(place, start, "page", " ".join(words))
            words = []
        if is_fence:
            is_code = not is_code
        elif line.strip() and not is_code:
            start = start if words else number
            words.append(line.strip().lstrip("#-* "))


if __name__ == "__main__":
    printed = list(findings(texts([Path(name).resolve() for name in sys.argv[1:]])))
    print("\n".join(printed))
    print(f"{len(printed)} findings")
    sys.exit(bool(printed))
