"""Each thread that the product starts survives an unforeseen error of its work, or its end is noticed.

A new thread fails this test until somebody has decided what follows when its work raises.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tests.parsed import ONE_PROCESS, nodes_of, tree_of
from tests.prose import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = ONE_PROCESS

ENDS_OTHERWISE: Final = {
    "api/server.py:server.run": "its owner joins it, and answers stop: `tidemark health center` fails",
    "capture/distribution/session.py:run": "its owner waits for it, and goes on without it",
    "console/end_deadline.py:_wait": "it ends the process",
    "center/outside_world.py:work": "the crawler's `_start` catches every error",
    "console/demo/resource_usage.py:self._watch": "the demo's memory and processor time are not measured further",
    "crawl/measured_rows.py:session.interrupt": "it is all that the thread does",
    "warm_runs/host_service.py:self._membership.run": "it catches every error, in another module",
    "warm_runs/worker_host.py:_watch_owner": "it ends the process",
    "warm_runs/worker_main.py:_end_with": "it ends the process",
    "warm_runs/worker_main.py:_live": "a worker that says nothing is killed and replaced",
    "warm_runs/worker_process.py:self._signal": "it is all that the thread does",
}
_CATCH_ALL: Final = ("Exception", "BaseException")


def threads() -> Iterator[tuple[str, ast.Module, ast.expr]]:
    """Place, module and target of each thread."""
    for path in sorted((ROOT / "tidemark").rglob("*.py")):
        for node in nodes_of(tree_of(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Thread", "threading.Thread", "Timer"):
                targets = [word.value for word in node.keywords if word.arg == "target"]
                (target,) = targets or node.args[1:2]  # a timer has the delay first
                yield f"{path.relative_to(ROOT / 'tidemark')}:{ast.unparse(target)}", tree_of(path), target


def survives(tree: ast.Module, name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a function of the module, or one that it calls, catches every error."""
    for node in nodes_of(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            for inner in ast.walk(node):
                if isinstance(inner, ast.ExceptHandler) and inner.type and ast.unparse(inner.type) in _CATCH_ALL:
                    return True
                called = ast.unparse(inner.func) if isinstance(inner, ast.Call) else ""
                if called.endswith("boundary.run"):
                    return True
                called = called.removeprefix("self.")
                if called.isidentifier() and called not in seen and survives(tree, called, seen | {name, called}):
                    return True
    return False


def test_each_thread_survives_or_its_end_is_noticed() -> None:
    safety = {place: survives(tree, ast.unparse(target).rpartition(".")[2]) for place, tree, target in threads()}
    assert {place for place, is_safe in safety.items() if not is_safe} == set(ENDS_OTHERWISE)
