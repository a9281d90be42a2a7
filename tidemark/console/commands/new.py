"""`tidemark new`: a table from a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.roots import declarations_of, root_option
from tidemark.dependency_model.errors import EntityError
from tidemark.dependency_model.time.period import Period

if TYPE_CHECKING:
    from pathlib import Path
    from typing import TextIO

    from tidemark.dependency_model.entity import Entity

_STUB = """\
-- :biz_date is the {period} that is computed; what is read of each table follows from its dt.
SELECT *
FROM {upstream}
WHERE dt = :biz_date
"""


@dataclass(frozen=True)
class Draft:
    """What is written: two files of one name in a folder."""

    folder: Path
    name: str
    sql: str
    yaml: str

    @property
    def files(self) -> tuple[Path, Path]:
        """The query and the declaration."""
        return self.folder / f"{self.name}.sql", self.folder / f"{self.name}.yaml"

    def write(self) -> None:
        """Write both, or neither. Raises EntityError where one is there already."""
        for path in self.files:
            if path.exists():
                raise EntityError("the file is there already", where=str(path), hint="choose another name")
        self.folder.mkdir(exist_ok=True)
        for path, text in zip(self.files, (self.sql, self.yaml), strict=True):
            path.write_text(text, encoding="utf-8")

    def remove(self) -> None:
        """Take both away again."""
        for path in self.files:
            path.unlink(missing_ok=True)


@click.command()
@click.argument("entity")
@click.option("--query", type=click.File(encoding="utf-8"), help="A file with the query, - for standard input.")
@click.option("--period", type=click.Choice([one.value for one in Period]), help="Default: by the query's parameters.")
@click.option("--layer", help="The folder (default: the name up to its first _).")
@root_option
@json_option
def new(entity: str, *, query: TextIO | None, period: str | None, layer: str | None, root: Path, as_json: bool) -> None:
    """Write the SQL and YAML of a new ENTITY from a query, and say what it waits for.

    The query is checked as `tidemark check` does: where it cannot be read, or leaves open which slices it reads,
    nothing is written. Without --query a stub is written to begin with.

    \b
    Exit codes: 0 written, 1 the query or the name will not do, 2 called wrongly.
    With --json: {"files": [...], "depends_on": [{"entity", "offset"}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    draft = _draft(entity, query.read() if query else None, period, root / (layer or entity.partition("_")[0]), root)
    found = written(draft, root)
    needs = [{"entity": one.entity, "offset": str(one.offset)} for one in found.depends_on]
    if as_json:
        print_json({"files": [str(path) for path in draft.files], "depends_on": needs})
    else:
        for path in draft.files:
            print_line(f"wrote {path}")
        for need in needs:
            print_line(f"  reads {need['entity']}  {need['offset']}")
    raise SystemExit(ExitCode.OK)


def written(draft: Draft, root: Path) -> Entity:
    """The entity of a draft, once its files are written. Raises EntityError with what is wrong; then none is there."""
    draft.write()
    read = declarations_of(root)
    own = {f"{draft.folder.name}/{path.name}" for path in draft.files}
    wrong = [one for one in (*read.problems, *read.differences) if (one.where or "").partition(":")[0] in own]
    if wrong:
        draft.remove()
        raise wrong[0]
    return read.entities[draft.name]


def _draft(name: str, text: str | None, period: str | None, folder: Path, root: Path) -> Draft:
    keys: tuple[str, ...] = ()
    guessed = "day"
    if text is None:
        upstream = next(iter(sorted(declarations_of(root).entities)), "some_table")
        sql = _STUB.format(period=period or guessed, upstream=upstream)
    else:
        sql = text.rstrip().rstrip(";").rstrip() + "\n"
        keys, guessed = _keys_and_period(sql, f"{name}.sql")
    lines = [f"description: {name.replace('_', ' ').capitalize()}.", f"period: {period or guessed}"]
    lines += [f"quality: [{{unique: [{', '.join(keys)}]}}]"] if keys else []
    return Draft(folder, name, sql, "\n".join(lines) + "\n")


def _keys_and_period(sql: str, file: str) -> tuple[tuple[str, ...], str]:
    """Columns that are one row each, of a query that groups; the period whose parameters it uses. Raises QueryError."""
    from sqlglot import exp  # noqa: PLC0415 - keeps --help fast

    from tidemark.dependency_model.lineage.query import read_query  # noqa: PLC0415

    query = read_query(sql, file=file)
    names = query.parameters()
    period = "5min" if "biz_minute" in names else "hour" if "biz_hour" in names else "day"
    group = query.tree.args.get("group")
    columns = {one.alias_or_name for one in query.tree.expressions} if isinstance(query.tree, exp.Select) else set()
    grouped = group.expressions if group else []
    keys = tuple(one.name for one in grouped if isinstance(one, exp.Column))
    return (keys if len(keys) == len(grouped) and columns.issuperset(keys) else ()), period
