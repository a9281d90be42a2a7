"""Where the lake is: what is understood, what is refused, and that no secret is in what people see."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.system.azure_access import AzureAccess
from tidemark.system.location_error import LocationError
from tidemark.system.s3_access import S3Access
from tidemark.system.table_location import HdfsLocation, ObjectLocation, is_uri, object_location, remote_location

CANARY = "canary-7fe1"
OWN_SERVER = {"AWS_ENDPOINT_URL": "http://127.0.0.1:7070"}


def located(text: str, **env: str) -> ObjectLocation:
    return object_location(text, {"AWS_REGION": "eu-west-3", **env}, "TIDEMARK_WAREHOUSE")


@pytest.mark.parametrize("text", ["s3://lake/w/house", "s3a://lake/w/house", "s3://lake/w/house/"])
def test_every_library_reads_the_same_text(text: str) -> None:
    lake = located(text)
    assert str(lake / "dwd_orders") == "s3a://lake/w/house/dwd_orders"
    assert ((lake / "t").name, (lake / "t").parent, (lake / "t").with_name("u")) == ("t", lake, lake / "u")
    assert lake.storage_options == {"aws_region": "eu-west-3", "aws_conditional_put": "etag"}


def test_a_server_of_ones_own() -> None:
    options = located("s3://lake/w", AWS_REGION="", **OWN_SERVER).storage_options
    assert options["aws_endpoint"] == "http://127.0.0.1:7070"
    assert (options["aws_region"], options["aws_allow_http"]) == ("us-east-1", "true")
    assert options["aws_virtual_hosted_style_request"] == "false"
    assert "aws_allow_http" not in located("s3://lake/w", AWS_ENDPOINT_URL_S3="https://store:9").storage_options


@pytest.mark.parametrize(
    "text",
    [
        *("s3://lake", "s3://lake/", "s3:///w", "s3://Lake/w", "s3://la_ke/w", "s3://x/w", "s3://lake/../w", "s3://lake/w/."),
        *("s3://lake/a//w", "s3://lake/a b", "s3://lake/a%20b", "s3://lake:9/w", f"s3://user:{CANARY}@lake/w"),
        *(f"s3://lake/w?secret={CANARY}", f"s3://lake/w#{CANARY}", "s3://[lake/w"),
    ],
)  # fmt: skip
def test_an_invalid_place_is_refused_and_not_shown(text: str) -> None:
    for other in (text, text.replace("s3://", "gs://").replace("la_ke", "lake/..")):
        with pytest.raises(LocationError, match=r"TIDEMARK_WAREHOUSE: .*expected s3://bucket/prefix, gs://") as refused:
            located(other)
        assert CANARY not in str(refused.value)
        assert refused.value.__suppress_context__ or refused.value.__context__ is None


@pytest.mark.parametrize("scheme", ["abfs", "wasbs", "viewfs", "http", "file"])
def test_other_storage_is_refused(scheme: str) -> None:
    with pytest.raises(LocationError, match=f"not known: expected .*found {scheme}://"):
        remote_location(f"{scheme}://lake/w", {}, "TIDEMARK_WAREHOUSE")


@pytest.mark.parametrize("text", ["hdfs://name-node.example:8020/w/house", "hdfs://cluster_1/w/house/"])
def test_a_folder_in_hdfs(text: str) -> None:
    lake = remote_location(text, {"HADOOP_CONF_DIR": "/etc/hadoop"}, "TIDEMARK_WAREHOUSE")
    assert isinstance(lake, HdfsLocation)
    assert str(lake) == text.rstrip("/")
    assert lake.is_name_service is text.endswith("/")
    assert ((lake / "t").name, (lake / "t").parent, (lake / "t").with_name("u")) == ("t", lake, lake / "u")
    assert remote_location(str(lake), {"HADOOP_CONF_DIR": "/etc/hadoop"}, "x") == lake == copy.deepcopy(lake)


@pytest.mark.parametrize(
    "text",
    [
        *("hdfs://host:1", "hdfs://host:1/", "hdfs:///w", "hdfs://host:x/w", "hdfs://host:123456/w", "hdfs://-host/w"),
        *("hdfs://host:1/../w", "hdfs://host:1/a//w", "hdfs://host:1/a:b", "hdfs://host:1/a%20b", "hdfs://[host/w"),
        *(f"hdfs://{CANARY}@host:1/w", f"hdfs://host:1/w?{CANARY}", f"hdfs://host:1/w#{CANARY}"),
    ],
)
def test_an_invalid_place_in_hdfs_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(LocationError, match=r"TIDEMARK_WAREHOUSE: .*expected hdfs://host:port/prefix") as refused:
        remote_location(text, {"HADOOP_CONF_DIR": "/etc/hadoop"}, "TIDEMARK_WAREHOUSE")
    assert CANARY not in str(refused.value)


def test_a_name_service_needs_hadoops_configuration() -> None:
    with pytest.raises(LocationError, match=r"expected HADOOP_CONF_DIR.*set it, or give a name node as host:port"):
        remote_location("hdfs://cluster/w", {}, "TIDEMARK_WAREHOUSE")


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({}, "region is not known.*AWS_REGION"),
        ({"AWS_S3_LOCKING_PROVIDER": "dynamodb"}, "AWS_S3_LOCKING_PROVIDER: commits would not be safe.*unset it"),
        ({"AWS_S3_ALLOW_UNSAFE_RENAME": "true"}, "AWS_S3_ALLOW_UNSAFE_RENAME: commits would not be safe"),
        ({"AWS_ENDPOINT_URL": "127.0.0.1:7070"}, "AWS_ENDPOINT_URL: this is not the address"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:x"}, "AWS_ENDPOINT_URL: this is not the address"),
        ({"AWS_ENDPOINT_URL_S3": f"http://u:{CANARY}@host"}, "AWS_ENDPOINT_URL_S3: this is not the address"),
        ({"AWS_ENDPOINT_URL": f"http://host/?{CANARY}"}, "AWS_ENDPOINT_URL: this is not the address"),
    ],
)
def test_an_environment_that_will_not_do(env: dict[str, str], message: str) -> None:
    with pytest.raises(LocationError, match=message) as refused:
        object_location("s3://lake/w", env, "TIDEMARK_WAREHOUSE")
    assert CANARY not in str(refused.value)


def test_credentials_are_in_nothing_that_is_shown() -> None:
    lake = located("s3://lake/w", AWS_ACCESS_KEY_ID=CANARY, AWS_SECRET_ACCESS_KEY=CANARY, AWS_SESSION_TOKEN=CANARY)
    assert CANARY not in f"{lake} {lake!r} {lake.storage_options} {lake.access!r}"
    assert CANARY.encode() not in pickle.dumps(lake)


PARTS = st.text("abz09._=-", min_size=1, max_size=8).filter(lambda part: set(part) - {"."})
KEYS = st.lists(PARTS, min_size=1, max_size=4)


@given(KEYS)
def test_a_location_can_be_read_from_its_text(parts: list[str]) -> None:
    """Settings travel to other processes as text."""
    lake = ObjectLocation("lake", "/".join(parts), S3Access("eu-west-3"))
    assert located(str(lake)) == lake == copy.deepcopy(lake)
    assert is_uri(str(lake))
    assert (lake / "t").parent == lake
    assert hash(located(str(lake))) == hash(lake)


@pytest.mark.parametrize("text", ["gs://la_ke/w/house", "gs://la_ke/w/house/"])
def test_a_folder_in_google_cloud_storage(text: str) -> None:
    lake = remote_location(text, {}, "TIDEMARK_WAREHOUSE")
    assert str(lake) == "gs://la_ke/w/house"
    assert isinstance(lake, ObjectLocation)
    assert lake.storage_options == {}
    assert ((lake / "t").name, (lake / "t").parent, (lake / "t").with_name("u")) == ("t", lake, lake / "u")
    assert remote_location(str(lake), {}, "x") == lake == copy.deepcopy(lake)


@pytest.mark.parametrize("emulator", ["http://127.0.0.1:4443", "http://localhost:4443/", "https://[::1]:4443"])
def test_an_emulator_on_this_machine_is_asked_without_credentials(emulator: str) -> None:
    lake = object_location("gs://lake/w", {"STORAGE_EMULATOR_HOST": emulator}, "TIDEMARK_WAREHOUSE")
    key = json.loads(lake.storage_options["google_service_account_key"])
    assert (key["gcs_base_url"], key["disable_oauth"], key["private_key"]) == (emulator.rstrip("/"), True, "")


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"STORAGE_EMULATOR_HOST": f"http://u:{CANARY}@127.0.0.1:1"}, "STORAGE_EMULATOR_HOST: .*expected http://127"),
        ({"STORAGE_EMULATOR_HOST": "127.0.0.1:4443"}, "STORAGE_EMULATOR_HOST: this is not the address of an emulator"),
        # Elsewhere there may be somebody else who answers, and reads what is written without credentials.
        ({"STORAGE_EMULATOR_HOST": "http://store.example:4443"}, "STORAGE_EMULATOR_HOST: this is not the address"),
        (
            {"GOOGLE_SERVICE_ACCOUNT_KEY": CANARY},
            "GOOGLE_SERVICE_ACCOUNT_KEY: delta-rs would read this setting.*unset it",
        ),
        ({"GOOGLE_SERVICE_ACCOUNT": CANARY}, "GOOGLE_SERVICE_ACCOUNT: delta-rs would read this setting"),
    ],
)
def test_an_environment_that_will_not_do_for_google(env: dict[str, str], message: str) -> None:
    with pytest.raises(LocationError, match=message) as refused:
        object_location("gs://lake/w", env, "TIDEMARK_WAREHOUSE")
    assert CANARY not in str(refused.value)


IN_AZURE = "abfss://la-ke@company1.dfs.core.windows.net/w/house"


@pytest.mark.parametrize("text", [IN_AZURE, f"{IN_AZURE}/"])
def test_a_folder_in_azure(text: str) -> None:
    lake = remote_location(text, {}, "TIDEMARK_WAREHOUSE")
    assert str(lake) == IN_AZURE
    assert isinstance(lake, ObjectLocation)
    assert lake.storage_options == {"azure_storage_account_name": "company1"}
    assert ((lake / "t").name, (lake / "t").parent, (lake / "t").with_name("u")) == ("t", lake, lake / "u")
    assert remote_location(str(lake), {}, "x") == lake == copy.deepcopy(lake)


@pytest.mark.parametrize(
    "text",
    [
        *("abfss://lake/w", "abfss://company.dfs.core.windows.net/w", "abfss://lake@company.blob.core.windows.net/w"),
        *("abfss://lake@company.dfs.example/w", "abfss://la--ke@company.dfs.core.windows.net/w"),
        *("abfss://lake@com-pany.dfs.core.windows.net/w", "abfss://lake@company.dfs.core.windows.net"),
        *(f"abfss://lake:{CANARY}@company.dfs.core.windows.net/w", f"{IN_AZURE}?sig={CANARY}", f"{IN_AZURE}#{CANARY}"),
    ],
)
def test_an_invalid_place_in_azure_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(LocationError, match=r"expected .*abfss://container@account\.dfs") as refused:
        remote_location(text, {}, "TIDEMARK_WAREHOUSE")
    assert CANARY not in str(refused.value)


def test_an_emulator_of_azures_storage() -> None:
    env = {"AZURE_STORAGE_ENDPOINT": "http://127.0.0.1:10000/company1", "AZURE_STORAGE_ACCOUNT_KEY": CANARY}
    lake = object_location(IN_AZURE, env, "TIDEMARK_WAREHOUSE")
    assert lake.access == AzureAccess("company1", has_key=True, emulator="http://127.0.0.1:10000")
    assert lake.storage_options["azure_storage_endpoint"] == env["AZURE_STORAGE_ENDPOINT"]
    assert CANARY not in f"{lake!r} {lake.storage_options}"


@pytest.mark.parametrize(
    ("env", "message"),
    [
        # Another account's is another store, and elsewhere there may be somebody else who answers.
        ({"AZURE_STORAGE_ENDPOINT": "http://127.0.0.1:1/another"}, "AZURE_STORAGE_ENDPOINT: .*expected http://127"),
        ({"AZURE_STORAGE_ENDPOINT": "http://127.0.0.1:1"}, "AZURE_STORAGE_ENDPOINT: this is not the address"),
        ({"AZURE_STORAGE_ENDPOINT": "https://127.0.0.1:1/company1"}, "AZURE_STORAGE_ENDPOINT: this is not the address"),
        (
            {"AZURE_STORAGE_ENDPOINT": "http://store.example:1/company1"},
            "AZURE_STORAGE_ENDPOINT: this is not the address",
        ),
        ({"AZURE_STORAGE_ENDPOINT": f"http://u:{CANARY}@127.0.0.1:1/company1"}, "AZURE_STORAGE_ENDPOINT: this is"),
        ({"AZURE_STORAGE_SAS_TOKEN": CANARY}, "AZURE_STORAGE_SAS_TOKEN: delta-rs would read this setting.*unset it"),
        ({"AZURE_USE_AZURE_CLI": "true"}, "AZURE_USE_AZURE_CLI: delta-rs would read this setting"),
        (
            {"AZURE_CLIENT_SECRET": CANARY, "AZURE_FEDERATED_TOKEN_FILE": "/token"},
            "AZURE_CLIENT_SECRET and AZURE_FEDERATED_TOKEN_FILE: the user is not clear.*unset one of them",
        ),
    ],
)
def test_an_environment_that_will_not_do_for_azure(env: dict[str, str], message: str) -> None:
    with pytest.raises(LocationError, match=message) as refused:
        object_location(IN_AZURE, env, "TIDEMARK_WAREHOUSE")
    assert CANARY not in str(refused.value)
