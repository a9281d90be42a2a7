"""Settings of Spark that people give: which are taken, on this machine and on a cluster, and which are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.spark.session import spark_conf
from tidemark.spark.user_settings import user_settings
from tidemark.system.errors import SparkConfError
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

ANSI = {"spark.sql.ansi.enabled": "true"}
CLUSTER = "spark://cluster.example:7077"


@pytest.fixture(autouse=True)
def no_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    monkeypatch.delenv("SPARK_HOME", raising=False)


def settings(folder: Path, text: str | None = None, **more: str) -> Settings:
    if text is None:
        return Settings.at(folder, **more)
    (folder / "spark.conf").write_text(text)
    return Settings.at(folder, spark_conf=str(folder / "spark.conf"), **more)


def test_lines_are_read_as_spark_reads_them(tmp_path: Path) -> None:
    text = "# executors\n\n spark.executor.memory   4g\nspark.executor.cores=2\nspark.a : b c \n! old\nspark.b\tx=y\n"
    assert user_settings(settings(tmp_path, text), ANSI, is_local=True) == {
        "spark.executor.memory": "4g",
        "spark.executor.cores": "2",
        "spark.a": "b c",
        "spark.b": "x=y",
    }


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("spark.sql.ansi.enabled false", "spark.sql.ansi.enabled cannot be changed: expected true, found false"),
        ("spark.driver.memory 8g", "set TIDEMARK_SPARK_MEMORY"),
        ("spark.master yarn", "set TIDEMARK_SPARK_MASTER"),
        ("hadoop.x 1", "this is not a setting of Spark: expected a name such as spark.executor.memory, found hadoop.x"),
        ("spark.executor.memory", "a setting without a value"),
    ],
)
def test_invalid_settings_are_refused_with_their_line(tmp_path: Path, line: str, says: str) -> None:
    given = settings(tmp_path, f"spark.a b\n{line}\n")
    with pytest.raises(SparkConfError) as caught:
        user_settings(given, ANSI, is_local=True)
    assert says in str(caught.value)
    assert f"{tmp_path / 'spark.conf'}:2" in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SparkConfError, match="cannot be read"):
        user_settings(Settings.at(tmp_path, spark_conf=str(tmp_path / "none")), ANSI, is_local=True)


@pytest.mark.parametrize("variable", ["SPARK_CONF_DIR", "SPARK_HOME"])
def test_a_cluster_has_the_defaults_of_its_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """They give way to the project's own file, and to what results hang on; a session here does without them."""
    folder = tmp_path if variable == "SPARK_CONF_DIR" else tmp_path / "conf"
    folder.mkdir(exist_ok=True)
    shared = "spark.sql.ansi.enabled false\nspark.driver.memory 1g\nspark.executor.memory 1g\nspark.yarn.queue night\n"
    (folder / "spark-defaults.conf").write_text(shared)
    monkeypatch.setenv(variable, str(tmp_path))
    given = settings(tmp_path, "spark.executor.memory 4g\n")
    of_cluster = user_settings(given, ANSI, is_local=False)
    assert of_cluster == {"spark.executor.memory": "4g", "spark.yarn.queue": "night"}
    assert user_settings(given, ANSI, is_local=True) == {"spark.executor.memory": "4g"}


@pytest.mark.spark
def test_a_cluster_is_not_tuned_as_one_machine_and_reaches_the_driver(tmp_path: Path) -> None:
    of_cluster = dict(spark_conf(settings(tmp_path, spark_master=CLUSTER), tmp_path).getAll())
    here = dict(spark_conf(settings(tmp_path), tmp_path).getAll())
    tuned = {"spark.sql.shuffle.partitions", "spark.sql.codegen.wholeStage", "spark.local.dir", "spark.driver.host"}
    assert tuned <= here.keys()
    assert tuned.isdisjoint(of_cluster)
    assert of_cluster["spark.jars"].split(",") == here["spark.driver.extraClassPath"].split(":")
    near = dict(spark_conf(settings(tmp_path, spark_master="spark://127.0.0.1:7077"), tmp_path).getAll())
    assert near["spark.driver.host"] == "127.0.0.1"


@pytest.mark.spark
def test_jars_and_options_of_java_are_added_to_ours(tmp_path: Path) -> None:
    text = "spark.jars local:///opt/a.jar\nspark.driver.extraJavaOptions -Da=b\n"
    given = settings(tmp_path, text, spark_master=CLUSTER)
    ours = dict(spark_conf(settings(tmp_path, spark_master=CLUSTER), tmp_path).getAll())
    conf = dict(spark_conf(given, tmp_path).getAll())
    assert conf["spark.jars"] == f"{ours['spark.jars']},local:///opt/a.jar"
    assert conf["spark.driver.extraJavaOptions"] == f"{ours['spark.driver.extraJavaOptions']} -Da=b"
