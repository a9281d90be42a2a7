"""Views of a project: `kind: View` with a query. They are not tables: queries that name a view contain its text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark.errors import EntityError
from tidemark.warehouse.declared_text import read_declared_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.warehouse.project_sql import ProjectSql


def read_views(
    root: Path, declared: Mapping[str, Entity], files: Mapping[str, str], sql: ProjectSql
) -> tuple[ProjectSql, list[EntityError]]:
    """A project's SQL with its views, and the problems of views.

    `files` are the paths of query files below the root, by name.
    """
    views, problems = {}, list[EntityError]()
    for name, entity in declared.items():
        file = files.get(name)
        if file is None:
            hint = f"write {name}.sql beside it"
            problems.append(EntityError("a View without a query", where=f"{entity.file}:1", hint=hint))
            continue
        try:
            views[name.lower()] = sql.view(name, read_declared_text(root / file, file), file)
        except EntityError as error:
            problems.append(error)
    return replace(sql, views=views), problems
