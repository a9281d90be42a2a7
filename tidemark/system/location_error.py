"""The error of a place for the lake that cannot be used."""

from __future__ import annotations

from typing import Self

from tidemark.errors import TerminalError


class LocationError(TerminalError):
    """A place for the lake that cannot be used. A text that may hold a secret is not repeated."""

    @classmethod
    def malformed(cls, where: str) -> Self:
        return cls(
            "this is not a place in an object store",
            expected="s3://bucket/prefix, gs://bucket/prefix or abfss://container@account.dfs.core.windows.net/prefix, "
            "of letters, digits and - _ . =, without a user, ? or #",
            where=where,
            hint="correct it; credentials are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the file of "
            "GOOGLE_APPLICATION_CREDENTIALS, or AZURE_STORAGE_ACCOUNT_KEY, or the machine's role",
        )

    @classmethod
    def scheme(cls, where: str, scheme: str) -> Self:
        return cls(
            "this kind of storage is not known",
            expected="a folder, s3://bucket/prefix, gs://bucket/prefix, "
            "abfss://container@account.dfs.core.windows.net/prefix, or hdfs://host:port/prefix",
            found=f"{scheme}://",
            where=where,
            hint="correct it; another object store needs the S3 protocol, and its address in AWS_ENDPOINT_URL",
        )

    @classmethod
    def not_in_hdfs(cls, where: str) -> Self:
        return cls(
            "this is not a place in HDFS",
            expected="hdfs://host:port/prefix or hdfs://nameservice/prefix, of letters, digits and - _ . =",
            where=where,
            hint="correct it; the user is set by HADOOP_USER_NAME or by Kerberos",
        )

    @classmethod
    def no_name_nodes(cls, where: str) -> Self:
        return cls(
            "without a port, this is a name service, and its name nodes are not known",
            expected="HADOOP_CONF_DIR, the folder of hdfs-site.xml and core-site.xml",
            where=where,
            hint="set it, or give a name node as host:port",
        )

    @classmethod
    def local_only(cls, where: str) -> Self:
        return cls(
            "only the warehouse can be in an object store or in HDFS",
            expected="a folder on this machine's disk",
            found="a URI",
            where=where,
            hint="correct it, or unset it to use a folder",
        )

    @classmethod
    def endpoint(cls, variable: str) -> Self:
        return cls(
            "this is not the address of an object store",
            expected="http://host:port or https://host:port, without a path",
            where=variable,
            hint="correct it; without it, the store is AWS",
        )

    @classmethod
    def emulator(cls, variable: str) -> Self:
        return cls(
            "this is not the address of an emulator of Google Cloud Storage on this machine",
            expected="http://127.0.0.1:port, without a path: it is used without credentials",
            where=variable,
            hint="correct it, or unset it to use Google's store",
        )

    @classmethod
    def one_reads_it(cls, variable: str, instead: str) -> Self:
        return cls(
            "delta-rs would read this setting, but Spark would not",
            expected="an unset variable: both must be the same user in the same store",
            where=variable,
            hint=f"unset it, and set {instead}, or use the machine's own user",
        )

    @classmethod
    def azure_emulator(cls, variable: str) -> Self:
        return cls(
            "this is not the address of an emulator of Azure's storage on this machine",
            expected="http://127.0.0.1:port/account, with the account of the lake's URI",
            where=variable,
            hint="correct it, or unset it to use Microsoft's servers",
        )

    @classmethod
    def two_users(cls, first: str, second: str) -> Self:
        return cls(
            "the user is not clear: libraries would use either of the two variables",
            expected="one of the two, because Spark and delta-rs must be the same user",
            where=f"{first} and {second}",
            hint="unset one of them",
        )

    @classmethod
    def no_region(cls) -> Self:
        return cls(
            "the bucket's region is not known",
            where="TIDEMARK_WAREHOUSE",
            hint="set AWS_REGION; for your own server, set AWS_ENDPOINT_URL",
        )

    @classmethod
    def unsafe(cls, variable: str, harm: str) -> Self:
        return cls(
            f"commits would not be safe: {harm}",
            expected="an unset variable: Spark and delta-rs commit with a conditional put",
            where=variable,
            hint="unset it",
        )
