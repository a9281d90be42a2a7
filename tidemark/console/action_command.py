"""A command that changes something. It is written to the audit log first; if that fails, the command does not run.

The audit log names the account of the operating system as the caller. `--author` is the caller's own statement, which
nothing verifies.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.errors import TidemarkError

if TYPE_CHECKING:
    from tidemark.state_store.audit_log import AuditEntry

_LOOKS: Final = ("dry_run", "status")
"""Options with which a command only shows, and changes nothing."""
_REASONS: Final = ("reason", "because")


class ActionCommand(click.Command):
    """Writes an entry to the audit log before the command runs.

    Without the option `only_with` the command changes nothing; with the option `unless` it does not change the project.
    `makes_store` marks a command that may create the state store; other commands have nothing to change without one. A
    command with `is_repair` also runs if the entry cannot be written.
    """

    def __init__(
        self,
        *args: Any,
        only_with: str = "",
        unless: str = "",
        makes_store: bool = False,
        is_repair: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._only_with, self._unless = only_with, unless
        self._makes_store, self._is_repair = makes_store, is_repair

    def invoke(self, ctx: click.Context) -> Any:
        if self._changes(ctx.params):
            try:
                _record(ctx, makes_store=self._makes_store)
            except TidemarkError:
                if not self._is_repair:
                    raise
        return super().invoke(ctx)

    def _changes(self, given: dict[str, Any]) -> bool:
        looks = any(given.get(name) for name in (*_LOOKS, self._unless))
        return not looks and (not self._only_with or bool(given.get(self._only_with)))


def _record(ctx: click.Context, *, makes_store: bool) -> None:
    from tidemark.state_store.audit_log import AuditLog  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    settings = Settings.load()
    if not makes_store and not settings.state and not settings.state_db.exists():
        return
    with closing(Database.of(settings)) as database:
        AuditLog(database).add(_entry(ctx))


def _entry(ctx: click.Context) -> AuditEntry:
    from tidemark.state_store.audit_log import AuditEntry  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.caller import this_account  # noqa: PLC0415

    caller = this_account()
    command = ctx.command_path.partition(" ")[2]
    why = next((str(ctx.params[name]) for name in _REASONS if ctx.params.get(name)), "")
    words = [_word(parameter, ctx.params.get(parameter.name or "")) for parameter in ctx.command.params]
    return AuditEntry(caller.who, caller.source, f"tidemark {command}", " ".join(filter(None, words)), why)


def _word(parameter: click.Parameter, value: Any) -> str:
    """An argument or option as the user gave it; empty for a default value, and for the reason."""
    is_left_out = value is None or value is False or value in ((), parameter.default)
    if is_left_out or parameter.name in (*_REASONS, "as_json"):
        return ""
    values = value if isinstance(value, tuple) else (value,)
    text = " ".join(str(getattr(member, "name", member)) for member in values)
    return text if isinstance(parameter, click.Argument) else f"{parameter.opts[0]}={text}"
