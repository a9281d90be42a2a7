"""An entity computed by a Python function: `<entity>.py` beside its YAML, with one function `compute`.

    def compute(dwd_orders, ods_users, *, biz_date):
        return dwd_orders.join(ods_users, "user_id").where(...)

Its positional parameters are the tables that it reads, each a DataFrame of exactly the slices that the entity depends
on. Its keyword-only parameters are those of SQL, such as `:biz_date`. Spark's plan of a dry run shows which slices of
an input are read (`tidemark.compute.function_reads`). The file is read here. It is imported only when a slice is
computed, or when `tidemark check` analyses it.
"""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.errors import EntityError
from tidemark.warehouse.query_text import QueryText

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FUNCTION: Final = "compute"


@dataclass(frozen=True)
class PythonFunction:
    """Its `tables` and `parameters`, from its signature.

    `where` is `file:line:column`; `places` has the same for each name of the signature.
    """

    path: Path
    where: str
    text: QueryText
    tables: tuple[str, ...]
    parameters: tuple[str, ...]
    places: Mapping[str, str]

    def call(self, inputs: Mapping[str, Any], parameters: Mapping[str, Any]) -> Any:
        """The DataFrame of one slice."""
        spec = importlib.util.spec_from_file_location(f"_entity_{self.path.stem}", self.path)
        if spec is None or spec.loader is None:
            raise EntityError("this file cannot be imported", where=self.where)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        chosen = {name: parameters[name] for name in self.parameters}
        return getattr(module, FUNCTION)(*(inputs[name] for name in self.tables), **chosen)


def read_function(path: Path, file: str) -> PythonFunction:
    """The function of a file, from its signature. Raises EntityError with file, line and column."""
    try:
        text = path.read_text(encoding="utf-8")
        module = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        where = f"{file}:{getattr(error, 'lineno', None) or 1}:{getattr(error, 'offset', None) or 1}"
        raise EntityError(f"this is not Python: {getattr(error, 'msg', error)}", where=where) from error
    functions = [
        statement for statement in module.body if isinstance(statement, ast.FunctionDef) and statement.name == FUNCTION
    ]
    if len(functions) != 1:
        raise EntityError(
            "an entity is computed by one function", expected=f"def {FUNCTION}(table, ...)", where=f"{file}:1:1"
        )
    arguments, where = functions[0].args, _place(file, functions[0])
    tables = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg or arguments.kwarg or not tables:
        raise EntityError("its parameters are the tables that it reads, each by its name", where=where)
    places = {table.arg: _place(file, table) for table in (*tables, *arguments.kwonlyargs)}
    names = tuple(table.arg for table in tables), tuple(kwonlyarg.arg for kwonlyarg in arguments.kwonlyargs)
    return PythonFunction(path, where, QueryText(text, file), *names, places)


def _place(file: str, node: ast.FunctionDef | ast.arg) -> str:
    return f"{file}:{node.lineno}:{node.col_offset + 1}"
