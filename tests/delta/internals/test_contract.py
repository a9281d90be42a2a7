"""The contract with private interfaces: the installed version has all of them, and only the adapter uses them."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.delta.internals.missing_interfaces import missing_interfaces
from tidemark.delta.internals import contract
from tidemark.spark.internals import Jvm
from tidemark.system.table_location import TableLocation

ROOT = Path(__file__).resolve().parents[3]
ADAPTER = (
    "tidemark/delta/internals/",
    "tidemark/spark/internals.py",
    # They have JVMs of their own: for Janino, and for what is read of an environment.
    "tidemark/spark/log_store_jar.py",
    "tests/spark/object_store/test_azure_credentials.py",
    # It asks Spark itself whether messages need its secret.
    "tests/spark/test_authentication.py",
    # A writer of Parquet and JSON in Java.
    "tests/compute/test_outside_files.py",
    "tests/delta/internals/",
)
ROOMS = ("tidemark", "warehouse_assets", "sensors", "resources", "benchmarks", "tests")
# The objects behind PySpark's.
PRIVATE = frozenset(
    {
        "_active_spark_context",
        "_gateway",
        "_jc",
        "_jconf",
        "_jdf",
        "_jreader",
        "_jsc",
        "_jsparkSession",
        "_jvm",
        "_jwrite",
    }
)

# How a session is told to know Delta, by its documentation.
PUBLIC_CATALOG = f"{contract.DELTA}.catalog.DeltaCatalog"
CAMEL = re.compile(r"[a-z]+[A-Z]\w*")
# What is called beside the contract's methods: Java's, Scala's, Janino's and Spark's public ones.
PUBLIC_METHODS = frozenset(
    {
        "asJava",
        "asScala",
        "classForName",
        "dataType",
        "findall",
        "forName",
        "fromJson",
        "getConstructors",
        "getFileSystem",
        "getLogger",
        "getMethods",
        "hadoopConfiguration",
        "isDefined",
        "mkString",
        "newSession",
        "randomUUID",
        "readValue",
        "setClassPath",
        "setDestinationDirectory",
        "setTargetVersion",
        "sparkContext",
        "sparkSession",
        "statusStore",
        "toMap",
        "toSeq",
        "unsafeWrapArray",
        "writeValueAsString",
    }
)


@dataclass(frozen=True)
class Written:
    """What a module names."""

    attributes: frozenset[str]
    texts: frozenset[str]
    """All string constants, and f-strings with the contract's two packages filled in."""
    imported: frozenset[str | None]


def modules(*, of_adapter: bool) -> Iterator[tuple[str, Written]]:
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if name.startswith(ADAPTER) == of_adapter:
                yield name, written(file)


@cache
def written(file: Path) -> Written:
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    constants = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return Written(
        frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute)),
        frozenset(constants | {_fill(node) for node in nodes if isinstance(node, ast.JoinedStr)}),
        frozenset(node.module for node in nodes if isinstance(node, ast.ImportFrom)),
    )


def _fill(node: ast.JoinedStr) -> str:
    names = {"DELTA": contract.DELTA, "SPARK": contract.SPARK}
    return "".join(
        str(part.value)
        if isinstance(part, ast.Constant)
        else names.get(part.value.id, "*")
        if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name)
        else "*"
        for part in node.values
    )


@pytest.mark.spark
def test_the_installed_version_has_all_of_it(spark: SparkSession) -> None:
    assert missing_interfaces(Jvm(spark).view, contract.CLASSES) == ()


@pytest.mark.spark
def test_the_installed_version_knows_every_setting(spark: SparkSession, lake: TableLocation) -> None:
    # Delta declares its settings when a table is first touched.
    spark.range(1).write.format("delta").save(str(lake))
    assert [name for name in contract.SETTINGS if not spark.conf.isModifiable(name)] == []


@pytest.mark.spark
def test_missing_interfaces_are_named(spark: SparkSession) -> None:
    asked = {f"{contract.DELTA}.NoSuchClass": (), f"{contract.DELTA}.DeltaLog": ("forTable/2", "noMethod/1", "new/99")}
    assert missing_interfaces(Jvm(spark).view, asked) == (
        f"{contract.DELTA}.NoSuchClass",
        f"{contract.DELTA}.DeltaLog.noMethod/1",
        f"{contract.DELTA}.DeltaLog.new/99",
    )


@pytest.mark.slow
def test_no_other_module_uses_private_interfaces() -> None:
    for name, module in modules(of_adapter=False):
        assert module.attributes.isdisjoint(PRIVATE), name
        assert {text for text in module.texts if contract.DELTA in text} <= {PUBLIC_CATALOG}, name
        assert module.imported.isdisjoint({"pyspark.java_gateway", "py4j.java_gateway", "delta._typing"}), name


def test_the_adapter_calls_exactly_the_methods_that_are_listed() -> None:
    engine = [module for name, module in modules(of_adapter=True) if not name.startswith("tests/")]
    called = {attribute for module in engine for attribute in module.attributes if CAMEL.fullmatch(attribute)}
    listed = {method.partition("/")[0] for methods in contract.CLASSES.values() for method in methods}
    assert called - listed - PUBLIC_METHODS == set()
    assert {method for method in listed if CAMEL.fullmatch(method)} - called == set()


def test_the_adapter_names_only_classes_that_are_listed() -> None:
    named: set[str] = set()
    for name, module in modules(of_adapter=True):
        if not name.startswith("tests/") and not name.endswith("contract.py"):
            named |= {text for text in module.texts if re.fullmatch(r"(org|scala|java|py4j|com)\.[\w.$*]+", text)}
    listed = {name.removesuffix("$") for name in contract.CLASSES} | contract.PUBLIC_CLASSES
    assert named - listed - {f"{contract.DELTA}.DeltaOperations$*"} == set()


@pytest.mark.slow
@pytest.mark.long
def test_undocumented_settings_are_all_listed() -> None:
    named = {
        text
        for name, module in modules(of_adapter=False)
        if name.startswith("tidemark/")
        for text in module.texts
        if re.fullmatch(r"spark\.(databricks|sql\.legacy)\.[\w.]+", text)
    }
    assert named == set(contract.SETTINGS)


@pytest.mark.slow
def test_the_log_is_read_by_hand_in_the_adapter_alone() -> None:
    """Where it is, and what a commit's file is called, one module beside it says: opening a table needs no more."""
    readers = {name for name, module in modules(of_adapter=False) if "_delta_log" in module.texts}
    assert {name for name in readers if name.startswith("tidemark/")} == {"tidemark/delta/log_folder.py"}
    for module in contract.LOG_FILES:
        assert (ROOT / "tidemark/delta/internals" / f"{module}.py").is_file()
