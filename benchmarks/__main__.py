"""Run one figure by name and print it; `all` runs each, `record` writes a row of one into RESULTS.md.

A figure is a module of this package with `measure(arguments) -> dict`, and where it has options of its own
`options(parser)`. Its docstring says what the numbers mean.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
from typing import TYPE_CHECKING, Any

import benchmarks
from benchmarks import _quick, _record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType


def figures() -> dict[str, ModuleType]:
    """The modules that measure something, by name."""
    names = [info.name for info in pkgutil.iter_modules(benchmarks.__path__) if not info.name.startswith("_")]
    modules = {name: importlib.import_module(f"benchmarks.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "measure")}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    chosen = parser.add_subparsers(dest="figure", required=True, metavar="NAME")
    available = figures()
    for name, module in available.items():
        own = chosen.add_parser(name, help=(module.__doc__ or "").splitlines()[0], description=module.__doc__)
        own.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
        if hasattr(module, "options"):
            module.options(own)
    every = chosen.add_parser("all", help="every figure, each in a process of its own; exit code 1 where one failed")
    every.add_argument("--quick", action="store_true", help="at the smallest scale")
    every.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
    every.add_argument("--only", nargs="+", choices=tuple(available), default=tuple(available))
    record = chosen.add_parser("record", help="measure a figure and add a row to RESULTS.md")
    record.add_argument("name", choices=tuple(available))
    record.add_argument("own", nargs=argparse.REMAINDER, metavar="OPTION", help="options of the figure")
    parsed = parser.parse_args(arguments)
    if parsed.figure == "all":
        _all(parsed)
    elif parsed.figure == "record":
        given = parser.parse_args([parsed.name, *parsed.own])
        new = _record.row(parsed.name, parsed.own, available[parsed.name].measure(given))
        _record.RESULTS.write_text(_record.add_row(_record.RESULTS.read_text("utf-8"), parsed.name, new), "utf-8")
        print(new)
    else:
        _print(available[parsed.figure].measure(parsed), as_json=parsed.as_json)


def _all(parsed: argparse.Namespace) -> None:
    figures = _quick.measure_all(parsed.only, quick=parsed.quick)
    _print(figures, as_json=parsed.as_json)
    if not all(figure["ok"] for figure in figures.values()):
        raise SystemExit(1)


def _print(figure: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(figure))
        return
    for name, value in figure.items():
        print(f"{name:24} {value}")


if __name__ == "__main__":
    main()
