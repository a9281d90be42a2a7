"""Plans as Spark writes them to JSON, made by hand: only the fields that are read."""

from __future__ import annotations

import json
from typing import Any

Tree = list[dict[str, Any]]


def node(name: str, /, *children: Tree, **fields: Any) -> Tree:
    own = {"class": f"org.apache.spark.{name}", "num-children": len(children), **fields}
    return [own, *(node for child in children for node in child)]


def attribute(identity: int, name: str = "") -> Tree:
    return node("AttributeReference", name=name, exprId={"id": identity})


def alias(identity: int, name: str, child: Tree) -> Tree:
    return node("Alias", child, name=name, exprId={"id": identity})


def literal(value: object, of: str) -> Tree:
    return node("Literal", value=None if value is None else str(value), dataType=of)


def table(name: str, **columns: int) -> Tree:
    """An empty input; each column has its number as identity."""
    marked = [alias(identity, f"{name}\u00a7{column}", attribute(9_999)) for column, identity in columns.items()]
    return node("Project", node("LogicalRDD"), projectList=marked)


def where(child: Tree, condition: Tree) -> Tree:
    return node("Filter", child, condition=condition)


def equals(identity: int, day: str) -> Tree:
    return node("EqualTo", attribute(identity), literal(day, "date"))


def project(child: Tree, *items: Tree) -> Tree:
    return node("Project", child, projectList=list(items))


def join(kind: str, left: Tree, right: Tree, condition: Tree | None) -> Tree:
    return node("Join", left, right, joinType={"object": f"plans.{kind}$"}, condition=condition)


def text(tree: Tree) -> str:
    return json.dumps(tree, ensure_ascii=False)
