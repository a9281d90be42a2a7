"""Azure's Data Lake API before Azurite, which has the Blob API alone: Spark speaks the first, delta-rs the second.

An account with a hierarchical namespace. Each request goes on as its twin of the Blob API, its condition with it: what
two writers are safe by the server decides. Folders are known here alone: the libraries take no folder for a file.

`python -m tests.components.azure_dfs_api PORT BEHIND NAMESPACE`, a process of its own. NAMESPACE is `hierarchical` or
`flat`: the account whose folders are none. The account's name and key are in the environment.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, PreconditionError
from obstore.store import AzureStore

from tests.components.translating_server import Answer, ask, serve
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from obstore import ObjectMeta

ACCOUNT: Final = "AZURE_STORAGE_ACCOUNT_NAME"
_HADOOP: Final = "Azure Blob FS"
_OF_ANYBODY: Final = {
    "x-ms-owner": "$superuser",
    "x-ms-group": "$superuser",
    "x-ms-permissions": "rwxr-x---",
    "x-ms-acl": "user::rwx,group::r-x,other::---",
}


@dataclass(frozen=True)
class _Sent:
    """What a request has beside its address; the headers' names are in small letters."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def is_of_a_new_file(self) -> bool:
        return self.headers.get("if-none-match") == "*"


@dataclass
class _Account:
    """The API in front of the server at a port; what is appended to a file waits here until it is flushed."""

    name: str
    behind: int
    is_hierarchical: bool
    _folders: set[str] = field(default_factory=set)
    _appended: dict[str, dict[int, bytes]] = field(default_factory=dict)
    _stores: dict[str, AzureStore] = field(default_factory=dict)

    def answer(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        sent = {name.lower(): value for name, value in headers.items()}
        if _HADOOP not in sent.get("user-agent", ""):
            return ask(self.behind, method, url, headers, body)
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        _, _, container, *rest = unquote(parts.path).split("/", 3)
        path = (rest[0] if rest else "").strip("/")
        try:
            # Java's own client knows no PATCH, and says of a PUT that it is meant as one.
            meant = sent.get("x-http-method-override", method)
            return self._answer(meant, self._store(container), path, query, _Sent(sent, body))
        except FileNotFoundError:
            return _error(404, "PathNotFound")
        except AlreadyExistsError:
            return _error(409, "PathAlreadyExists")
        except PreconditionError:
            return _error(412, "ConditionNotMet")

    def _answer(self, method: str, store: AzureStore, path: str, query: Mapping[str, str], sent: _Sent) -> Answer:
        answers = {
            "HEAD": lambda: self._told(store, path, is_of_access=query.get("action") == "getAccessControl"),
            "GET": lambda: _read(store, path, sent) if path else self._listed(store, query),
            "PUT": lambda: self._put(store, path, query, sent),
            "PATCH": lambda: self._updated(store, path, query, sent.body),
            "DELETE": lambda: self._deleted(store, path, is_whole=query.get("recursive") == "true"),
        }
        return answers[method]()

    def _told(self, store: AzureStore, path: str, *, is_of_access: bool) -> Answer:
        if is_of_access and not self.is_hierarchical:
            return _error(400, "HierarchicalNamespaceNotEnabled")
        if not path or self._is_folder(store, path):
            return 200, {"x-ms-resource-type": "directory", **_OF_ANYBODY}, b""
        return 200, {"x-ms-resource-type": "file", **_OF_ANYBODY, **_of_file(obstore.head(store, path))}, b""

    def _is_folder(self, store: AzureStore, path: str) -> bool:
        return path in self._folders or any(batch for batch in obstore.list(store, path, chunk_size=1))

    def _listed(self, store: AzureStore, query: Mapping[str, str]) -> Answer:
        folder = query.get("directory", "").strip("/")
        if folder and not self._is_folder(store, folder):
            obstore.head(store, folder)
        if query.get("recursive") == "true":
            files = [told for batch in obstore.list(store, folder or None) for told in batch]
            below = {name for file in files for name in _above(file["path"], folder)} | set(self._below(folder))
        else:
            listed = obstore.list_with_delimiter(store, folder or None)
            files = list(listed["objects"])
            start = f"{folder}/" if folder else ""
            explicit = {f"{start}{name.removeprefix(start).split('/')[0]}" for name in self._below(folder)}
            below = {name.rstrip("/") for name in listed["common_prefixes"]} | explicit
        paths = [*map(_as_path, files), *map(_as_folder, below)]
        told = json.dumps({"paths": sorted(paths, key=lambda entry: str(entry["name"]))})
        return 200, {"Content-Type": "application/json"}, told.encode()

    def _below(self, folder: str) -> Iterator[str]:
        return (name for name in self._folders.copy() if not folder or name.startswith(f"{folder}/"))

    def _put(self, store: AzureStore, path: str, query: Mapping[str, str], sent: _Sent) -> Answer:
        if "x-ms-rename-source" in sent.headers:
            source = unquote(urlsplit(sent.headers["x-ms-rename-source"]).path).strip("/").partition("/")[2]
            obstore.copy(store, source, path, overwrite=not sent.is_of_a_new_file)
            obstore.delete(store, source)
            return 201, {}, b""
        self._folders.update(_above(path))
        if query.get("resource") == "directory":
            self._folders.add(path)
            return 201, {"ETag": '"folder"'}, b""
        self._appended.pop(path, None)
        there: Any = {"e_tag": sent.headers["if-match"]} if "if-match" in sent.headers else "overwrite"
        put = obstore.put(store, path, b"", mode="create" if sent.is_of_a_new_file else there, use_multipart=False)
        return 201, {"ETag": str(put["e_tag"])}, b""

    def _updated(self, store: AzureStore, path: str, query: Mapping[str, str], body: bytes) -> Answer:
        position, waiting = int(query["position"]), self._appended.setdefault(path, {})
        if query["action"] == "append":
            waiting[position] = body
            if query.get("flush") != "true":
                return 202, {}, b""
            position += len(body)
        content = bytes(obstore.get(store, path).bytes())
        for start in sorted(waiting):
            if start != len(content):
                return _error(400, "InvalidFlushPosition")
            content += waiting[start]
        if position != len(content):
            return _error(400, "InvalidFlushPosition")
        put = obstore.put(store, path, content, use_multipart=False)
        del self._appended[path]
        return 200, {"ETag": str(put["e_tag"])}, b""

    def _deleted(self, store: AzureStore, path: str, *, is_whole: bool) -> Answer:
        below = [told["path"] for batch in obstore.list(store, path) for told in batch]
        if (below or any(self._below(path))) and not is_whole:
            return _error(409, "DirectoryNotEmpty")
        if not below and path not in self._folders:
            obstore.head(store, path)
            below = [path]
        for name in below:
            obstore.delete(store, name)
        self._folders -= {path, *self._below(path)}
        return 200, {}, b""

    def _store(self, container: str) -> AzureStore:
        if container not in self._stores:
            endpoint = f"http://{LOOPBACK}:{self.behind}/{self.name}"
            options: Any = {"azure_storage_endpoint": endpoint, "azure_allow_http": "true"}
            self._stores[container] = AzureStore(container, config=options)
        return self._stores[container]


def _read(store: AzureStore, path: str, sent: _Sent) -> Answer:
    about, asked = obstore.head(store, path), sent.headers.get("x-ms-range") or sent.headers.get("range", "")
    if not asked:
        return 200, _of_file(about), bytes(obstore.get(store, path).bytes())
    first, _, last = asked.removeprefix("bytes=").partition("-")
    start, end = int(first), min(int(last or about["size"]), about["size"] - 1)
    if start > end:
        return _error(416, "InvalidRange")
    content = bytes(obstore.get_range(store, path, start=start, end=end + 1))
    return 206, {**_of_file(about), "Content-Range": f"bytes {start}-{end}/{about['size']}"}, content


def _of_file(about: ObjectMeta) -> dict[str, str]:
    changed = format_datetime(about["last_modified"], usegmt=True)
    return {"Content-Length": str(about["size"]), "ETag": str(about["e_tag"]), "Last-Modified": changed}


def _as_path(about: ObjectMeta) -> dict[str, object]:
    known = _of_file(about)
    return {
        "name": about["path"],
        "contentLength": known["Content-Length"],
        "etag": known["ETag"],
        "lastModified": known["Last-Modified"],
        "owner": "$superuser",
        "group": "$superuser",
        "permissions": "rw-r-----",
    }


def _as_folder(name: str) -> dict[str, object]:
    changed = "Mon, 23 Mar 2026 00:00:00 GMT"
    return {"name": name, "isDirectory": "true", "contentLength": "0", "lastModified": changed, "etag": '"folder"'}


def _above(path: str, top: str = "") -> list[str]:
    """The folders that a path is in, below `top`."""
    names = path.split("/")
    above = ["/".join(names[:count]) for count in range(1, len(names))]
    return [name for name in above if not top or name.startswith(f"{top}/")]


def _error(status: int, code: str) -> Answer:
    told = json.dumps({"error": {"code": code, "message": code}}).encode()
    return status, {"x-ms-error-code": code, "Content-Type": "application/json"}, told


def main() -> None:
    port, behind, namespace = sys.argv[1:]
    account = _Account(os.environ[ACCOUNT], int(behind), namespace == "hierarchical")
    serve(int(port), account.answer)


if __name__ == "__main__":
    main()
