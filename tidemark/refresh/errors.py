"""Errors of refreshing a target. Messages hold no address, because a whole address may be secret.

TransientError
`-- TargetDownError        a target does not answer: all its open deliveries wait
TerminalError
|-- TargetRefusedError     a target refused one slice: the other slices go on
|-- TargetSettingError     a target's address is missing, or does not fit its kind
`-- NotRefreshedError      the project declares no such target
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import TerminalError, TransientError
from tidemark.system.refresh_target import ADDRESS_PREFIX

if TYPE_CHECKING:
    from collections.abc import Collection


class TargetDownError(TransientError):
    """A target does not answer."""

    @classmethod
    def of(cls, target: str, found: str) -> Self:
        return cls(
            f"the target '{target}' does not answer",
            found=found,
            where=ADDRESS_PREFIX + target.upper(),
            hint="start it, or correct its address; open deliveries are kept",
        )


class TargetRefusedError(TerminalError):
    """A target refused one slice."""

    @classmethod
    def of(cls, target: str, found: str) -> Self:
        return cls(f"the target '{target}' refused", found=found, where=ADDRESS_PREFIX + target.upper())


class TargetSettingError(TerminalError):
    """A target's address is missing, or does not fit its kind."""

    @classmethod
    def of(cls, target: str, expected: str) -> Self:
        variable = ADDRESS_PREFIX + target.upper()
        return cls(
            f"the address of the target '{target}' does not match its kind",
            expected=expected,
            where=variable,
            hint=f"set {variable} for `tidemark refresh`",
        )


class NotRefreshedError(TerminalError):
    """The project declares no such target."""

    @classmethod
    def target(cls, name: str, known: Collection[str]) -> Self:
        return cls(
            f"this project has no target with the name '{name}'",
            expected=f"one of {', '.join(known)}" if known else "a name of `refresh_targets` in tidemark.yaml",
            hint=did_you_mean(name, known) or "add it to `refresh_targets` in tidemark.yaml",
        )

    @classmethod
    def nothing(cls) -> Self:
        return cls(
            "this project has no refresh targets",
            expected="refresh_targets: {cache: {kind: redis}}",
            where="tidemark.yaml",
            hint="name a target there, and in declarations `refresh: [{target: cache, keys: [...]}]`",
        )
