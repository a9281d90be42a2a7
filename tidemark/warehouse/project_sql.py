"""A project's queries as they run and as they are analysed: with functions, variables and views filled in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.declared_sql.expansion import Expansion
from tidemark.dependency_model.lineage.declared_sql.view import SqlView, used_views, with_views
from tidemark.dependency_model.lineage.qualified_names import Naming
from tidemark.dependency_model.lineage.select_text import select_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.lineage.computed_table import ComputedTable
    from tidemark.errors import QueryError
    from tidemark.system.settings import Settings


@dataclass(frozen=True, slots=True)
class QueryTexts:
    """`runs` is the text for Spark; `means` is the analysed text, with its views separate.

    `notices` are about ignored parts of the file. `names` are the positions in `means` of names that lost their schema.
    """

    runs: str
    means: str
    views: tuple[SqlView, ...] = ()
    notices: tuple[QueryError, ...] = ()
    names: tuple[int, ...] = ()


@dataclass(frozen=True)
class ProjectSql:
    """The names in a project's queries: its tables, and the functions, variables and views that it declares."""

    naming: Naming
    expansion: Expansion = field(default_factory=Expansion)
    views: Mapping[str, SqlView] = field(default_factory=dict)

    @classmethod
    def of(cls, entities: Mapping[str, Entity], settings: Settings) -> ProjectSql:
        """The SQL settings of a project. `entities` are all names that queries may use, views included."""
        layers = {name.lower(): (entity.layer or "").lower() for name, entity in entities.items()}
        naming = Naming(layers, frozenset(schema.lower() for schema in settings.schemas))
        functions = {function.name: function for function in settings.functions}
        return cls(naming, Expansion(functions, dict(settings.variables)))

    def read(self, text: str, file: str, written: ComputedTable | None = None) -> QueryTexts:
        """The texts of one query. Raises QueryError."""
        means_text, runs_text = self.expansion.means(text, file), self.expansion.runs(text, file)
        means = select_text(means_text, file=file, written=written, naming=self.naming)
        runs = means.text if runs_text == means_text else self._select(runs_text, file, written)
        used = used_views(means.text, self.views)
        return QueryTexts(with_views(runs, used, file), means.text, tuple(used), means.notices, means.names)

    def view(self, name: str, text: str, file: str) -> SqlView:
        """The texts of a view, without the text of other views. Raises QueryError."""
        means = select_text(self.expansion.means(text, file), file=file, naming=self.naming)
        return SqlView(name.lower(), file, self._select(self.expansion.runs(text, file), file), means.text, means.names)

    def _select(self, text: str, file: str, written: ComputedTable | None = None) -> str:
        return select_text(text, file=file, written=written, naming=self.naming).text
