"""Slices that a command names by an entity and a time, a list or a range of times."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from tidemark.dependency_model.subject import (
    MAX_SLICES,
    Allowance,
    DependencySubject,
    SubjectKind,
    no_slice_then,
    resolve,
)
from tidemark.dependency_model.subject.subject_id import DependencySubjectId
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

_AT_ALL: Final = 1_000_000
_STATIC: Final = "static"


def asked_slices(graph: DependencyGraph, entity: str, text: str, *, yes: bool) -> tuple[Slice, ...]:
    """Existing slices of `2026-03-29`, `2026-03-01..2026-03-29` or `2026-03-01,2026-03-29`, in order of time.

    Ask for confirmation on a terminal if there are more than 1,000; elsewhere refuse them unless `yes`. Raises
    UnknownEntityError, ParseError for an invalid time, and NoSuchSliceError if no slice exists at that time.
    """
    slices = resolve(_subject(entity, text), graph, allowance=Allowance(_AT_ALL))
    if not slices:
        raise no_slice_then(graph, entity, text)
    if len(slices) > MAX_SLICES and not yes:
        confirm(f"{entity} {text} means {len(slices):,} slices ({slices[0].key} .. {slices[-1].key})")
    return slices


def _subject(entity: str, text: str) -> DependencySubject:
    if text == _STATIC:
        return DependencySubject(SubjectKind.JOB, entity)
    return DependencySubject.of(DependencySubjectId.parse(f"job={entity}&&bizDate={text}"))


def confirm(what: str) -> None:
    """Ask for confirmation on a terminal; elsewhere raise ParseError with the option to add."""
    if not sys.stdin.isatty():
        raise ParseError(what, expected=f"at most {MAX_SLICES:,} without confirmation", hint="add --yes to confirm")
    if not click.confirm(f"{what}. Go on?"):
        raise click.Abort
