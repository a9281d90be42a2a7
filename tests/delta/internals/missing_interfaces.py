"""What the installed Delta has of the private names that the adapter uses: only tests ask, as versions are pinned."""

import re
from collections.abc import Mapping
from typing import Any, Final

from py4j.protocol import Py4JJavaError

_SIGNATURE: Final = re.compile(r"([\w$.]+)\(([^()]*)\)")


def missing_interfaces(view: Any, classes: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Of classes with their methods those that the JVM lacks, as `Class` or `Class.method/parameters`."""
    missing: list[str] = []
    for name, methods in classes.items():
        there = _methods_of(view, name)
        if there is None:
            missing.append(name)
        else:
            missing += [f"{name}.{method}" for method in methods if method not in there]
    return tuple(missing)


def _methods_of(view: Any, name: str) -> frozenset[str] | None:
    """`method/parameters` of a class, its constructors as `new/parameters`; None where there is no such class.

    As two texts: a call for each method would take seconds.
    """
    try:
        loaded = getattr(view, "py4j.reflection.ReflectionUtil").classForName(name)
    except Py4JJavaError:
        return None
    sequence = getattr(view, "scala.collection.immutable.ArraySeq")
    methods = _parameter_counts(str(sequence.unsafeWrapArray(loaded.getMethods()).mkString(" ")))
    constructors = _parameter_counts(str(sequence.unsafeWrapArray(loaded.getConstructors()).mkString(" ")))
    return frozenset({f"{method}/{count}" for method, count in methods} | {f"new/{count}" for _, count in constructors})


def _parameter_counts(signatures: str) -> list[tuple[str, int]]:
    """Each method's own name with its number of parameters."""
    return [
        (name.rpartition(".")[2], len(parameters.split(",")) if parameters else 0)
        for name, parameters in _SIGNATURE.findall(signatures)
    ]
