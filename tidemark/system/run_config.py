"""The run configuration that a caller may set: plain values of ops. The operator decides everything else.

The configuration of a run comes from any user of Dagster's pages. Dagster lets it replace every field of a resource,
reads `{"env": NAME}` from a variable, and loads inputs from pickled files. That gives access to secrets, another lake
and code. Tags of a run can define a whole pod. So `resources`, `execution`, `loggers` (except the console's level) and
`inputs` must be empty, and no value may name a variable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import yaml

from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_CHARACTERS: Final = 64 * 1024
MOST_VALUES: Final = 100_000
_MOST_BRACKETS: Final = 64
"""The most brackets inside each other: PyYAML's scanner looks at every open one again for each token."""
_LEVELS: Final = ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG")
_OPERATORS_TAGS: Final = ("dagster-k8s/", "dagster-celery", "dagster-docker", "dagster/image", "ecs/", ".dagster/grpc")
"""Prefixes of the tags with which a launcher chooses an image, a command or a server."""


class RunConfigRefusedError(TerminalError):
    """A run's configuration or tag that only the operator decides."""

    @classmethod
    def of(cls, refused: str) -> RunConfigRefusedError:
        return cls(
            "a launcher of runs cannot set this part",
            expected="plain values below ops: <op>: config",
            found=refused[:200],
            hint="remove it; the settings of runs are in tidemark.yaml and in the environment of the service",
        )


def check_run_config(given: object) -> None:
    """Raise RunConfigRefusedError for anything but configuration of ops; `given` may be YAML."""
    config = _read(given) if isinstance(given, str) else given
    for section, value in _mapping(config, "the run's configuration").items():
        if section == "ops":
            _check_nodes(value)
        elif not _is_empty(value) and not (section == "loggers" and _is_console_level(value)):
            raise RunConfigRefusedError.of(f"values below {section!r}")


def check_run_tags(names: Iterable[object]) -> None:
    """Raise RunConfigRefusedError for the name of a tag that configures a launcher."""
    for name in names:
        if isinstance(name, str) and name.strip().lower().startswith(_OPERATORS_TAGS):
            raise RunConfigRefusedError.of(f"the tag {name!r}")


def _read(text: str) -> object:
    if len(text) > MOST_CHARACTERS:
        raise RunConfigRefusedError.of(f"a text of {len(text):,} characters, of at most {MOST_CHARACTERS:,}")
    try:
        return yaml.load(text, _ShallowLoader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise RunConfigRefusedError.of(f"a text that is not YAML: {error}") from error


class _ShallowLoader(yaml.SafeLoader):
    """Refuses texts that take seconds: brackets that are too deep, and aliases.

    Merge keys copy what aliases name: six levels of twenty copies need 600 characters, and fill the memory.
    """

    def fetch_flow_collection_start(self, token: type[yaml.Token]) -> None:
        if self.flow_level >= _MOST_BRACKETS:
            raise yaml.YAMLError(f"more than {_MOST_BRACKETS} brackets inside each other")
        super().fetch_flow_collection_start(token)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias (*name)")
        return super().compose_node(parent, index)


def _mapping(value: object, what: str) -> Mapping[object, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RunConfigRefusedError.of(f"{what} is not a mapping")
    return value


def _check_nodes(nodes: object) -> None:
    """Check the ops of a job and of graphs within it."""
    level = [nodes]
    while level:
        below: list[object] = []
        for ops in level:
            for name, node in _mapping(ops, "ops").items():
                for part, value in _mapping(node, f"op {name!r}").items():
                    if part == "config":
                        _check_plain(value)
                    elif part == "ops":
                        below.append(value)
                    elif not _is_empty(value):
                        raise RunConfigRefusedError.of(f"values below {part!r} of op {name!r}")
        level = below


def _check_plain(config: object) -> None:
    for value in values_below(config):
        if isinstance(value, dict) and value.keys() == {"env"}:
            raise RunConfigRefusedError.of("the name of an environment variable, by {'env': ...}")


def _is_console_level(loggers: object) -> bool:
    """Whether it only sets the level of the console's log."""
    levels = [{"console": {"config": {"log_level": level}}} for level in _LEVELS]
    return loggers in levels


def _is_empty(value: object) -> bool:
    """Whether it has no values except None, like the empty sections of Dagster's launchpad."""
    return all(inner is None or isinstance(inner, dict) for inner in values_below(value))


def values_below(root: object) -> Iterable[Any]:
    """The value and everything below it, without recursion. Raises RunConfigRefusedError for too many."""
    pending, count = [root], 0
    while pending:
        value = pending.pop()
        count += 1
        if count > MOST_VALUES:
            raise RunConfigRefusedError.of(f"more than {MOST_VALUES:,} values")
        yield value
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list | tuple | set):
            pending.extend(value)
