"""Whether the installed Delta has all that the adapter uses; asked once a process, and logged.

With the versions that the contract was proven with there is nothing to ask: to look at the classes takes seconds.

Where something is missing, the same work is done by Delta's public ways, which cost more: MERGE for merges,
replaceWhere for partitions, OPTIMIZE ZORDER for clustering, an append for an empty commit. Repair has no public way.
"""

import functools
import logging
import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tidemark.delta.errors import InterfaceMissingError
from tidemark.delta.internals import contract
from tidemark.spark.internals import Jvm

_LOGGER: Final = logging.getLogger(__name__)
_SIGNATURE: Final = re.compile(r"([\w$.]+)\(([^()]*)\)")


def has_private_interfaces(spark: SparkSession) -> bool:
    """Whether all of the contract is there: the fast ways may be taken."""
    return not missing_here(Jvm(spark).view)


def require_private_interfaces(spark: SparkSession, operation: str) -> None:
    """Raise InterfaceMissingError where something is missing: for an operation that has no public way."""
    missing = missing_here(Jvm(spark).view)
    if missing:
        raise InterfaceMissingError.of(operation, missing, version("delta-spark"))


@functools.lru_cache(maxsize=4)
def missing_here(view: Any) -> tuple[str, ...]:
    """What this process's JVM lacks of the contract; logged when it is asked for the first time."""
    installed = {name: version(name) for name in contract.PROVEN_WITH}
    if installed == contract.PROVEN_WITH:
        return ()
    missing = missing_interfaces(view, contract.CLASSES)
    if missing:
        words = "%s lacks %s: merges, partitions and clustering go by Delta's public ways, which are slower"
        _LOGGER.warning(words, installed, ", ".join(missing))
    else:
        _LOGGER.info("%s has all private interfaces that are used", installed)
    return missing


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
