"""A command that changes something: it is in the audit log before it is carried out, or it is not carried out.

Who called is the account of the operating system; `--author` is what a caller says of himself, and proves nothing.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.errors import TidemarkError

if TYPE_CHECKING:
    from tidemark.state_store.audit_log import AuditEntry

_LOOKS: Final = ("dry_run", "status")
"""Options that let a command look, and change nothing."""
_REASONS: Final = ("reason", "because")


class ActionCommand(click.Command):
    """`only_with` is the option without which the command changes nothing, `unless` one that leaves the project alone.

    `makes_store` is for a command that is the first to write the state store; others have nothing to change without
    one. With `is_repair` a store that cannot be written does not keep the command from repairing it.
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
        """Record, then carry out."""
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
    """An argument, or an option, as it was given; nothing for one that was left out, and for the reason."""
    is_left_out = value is None or value is False or value in ((), parameter.default)
    if is_left_out or parameter.name in (*_REASONS, "as_json"):
        return ""
    values = value if isinstance(value, tuple) else (value,)
    text = " ".join(str(getattr(member, "name", member)) for member in values)
    return text if isinstance(parameter, click.Argument) else f"{parameter.opts[0]}={text}"
