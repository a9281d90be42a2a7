"""Cloud Storage's XML API before fake-gcs-server, which has the JSON API alone: delta-rs and the file store speak XML.

Each request goes on as its JSON twin, its precondition with it: what two writers are safe by the server decides. What
is JSON already, as Hadoop's connector sends it, goes on as it is.

`python -m tests.components.gcs_xml_api PORT BEHIND`, a process of its own: a library that waits for an answer may keep
Python's lock.
"""

from __future__ import annotations

import http.client
import json
import secrets
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit
from xml.etree.ElementTree import Element, SubElement, tostring

from tests.components.translating_server import Answer, ask, serve

if TYPE_CHECKING:
    from collections.abc import Mapping

_JSON: Final = ("/storage/v1/", "/upload/", "/download/", "/batch/", "/_internal/")
_PRECONDITION: Final = "x-goog-if-generation-match"


@dataclass
class _Xml:
    """The API in front of the server at a port; parts of an object wait here until it is put as a whole."""

    behind: int
    _parts: dict[str, dict[int, bytes]] = field(default_factory=dict)

    def answer(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        path = urlsplit(url).path
        if path.startswith(_JSON):
            return self._ask(method, url, headers, body)
        query = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
        bucket, _, key = path.removeprefix("/").partition("/")
        if not key:
            return self._listed(bucket, query)
        if method in {"GET", "HEAD"}:
            return self._ask(method, f"{_object(bucket, key)}?alt=media", headers)
        if method == "DELETE" and "uploadId" not in query:
            return self._ask(method, _object(bucket, key), headers)
        return self._put(method, bucket, unquote(key), query, {"headers": headers, "body": body})

    def _put(self, method: str, bucket: str, key: str, query: Mapping[str, str], sent: Mapping[str, Any]) -> Answer:
        upload = query.get("uploadId", "")
        if method == "POST" and "uploads" in query:
            begun = secrets.token_hex(8)
            self._parts[begun] = {}
            return 200, {}, _document("InitiateMultipartUploadResult", {"UploadId": begun})
        if method == "DELETE":
            self._parts.pop(upload, None)
            return 204, {}, b""
        if method == "PUT" and upload:
            self._parts[upload][int(query["partNumber"])] = sent["body"]
            return 200, {"ETag": f'"{query["partNumber"]}"'}, b""
        parts = self._parts.pop(upload) if upload else {}
        content = b"".join(parts[number] for number in sorted(parts)) if upload else sent["body"]
        condition = {_lower(sent["headers"]).get(_PRECONDITION): "ifGenerationMatch"}
        named = {"uploadType": "media", "name": key, **{name: value for value, name in condition.items() if value}}
        status, _, told = self._ask("POST", f"/upload/storage/v1/b/{bucket}/o?{urlencode(named)}", {}, content)
        if status != http.HTTPStatus.OK:
            return status, {}, told
        known = json.loads(told)
        done = {"ETag": f'"{known["etag"]}"', "x-goog-generation": known["generation"]}
        return 200, done, _document("CompleteMultipartUploadResult", {"ETag": done["ETag"]}) if upload else b""

    def _listed(self, bucket: str, query: Mapping[str, str]) -> Answer:
        token = query.get("continuation-token", "")
        # XML's offset is before the first name that is told, JSON's is the first one.
        first = token or (f"{query['start-after']}\0" if "start-after" in query else "")
        asked = {
            "prefix": query.get("prefix", ""),
            "delimiter": query.get("delimiter", ""),
            "startOffset": first,
            "maxResults": query.get("max-keys", "1000"),
        }
        status, headers, told = self._ask("GET", f"/storage/v1/b/{bucket}/o?{urlencode(asked)}", {})
        if status != http.HTTPStatus.OK:
            return status, headers, told
        known = json.loads(told)
        result = Element("ListBucketResult")
        for name, value in {"Name": bucket, "NextContinuationToken": known.get("nextPageToken")}.items():
            if value:
                SubElement(result, name).text = value
        for item in known.get("items", ()):
            entry = SubElement(result, "Contents")
            told_as = {"Key": "name", "Size": "size", "LastModified": "updated", "ETag": "etag"}
            for name, source in told_as.items():
                SubElement(entry, name).text = f'"{item[source]}"' if name == "ETag" else item[source]
        for prefix in known.get("prefixes", ()):
            SubElement(SubElement(result, "CommonPrefixes"), "Prefix").text = prefix
        return 200, {"Content-Type": "application/xml"}, tostring(result)

    def _ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
        return ask(self.behind, method, url, headers, body)


def _object(bucket: str, key: str) -> str:
    return f"/storage/v1/b/{bucket}/o/{quote(unquote(key), safe='')}"


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _document(name: str, values: Mapping[str, str]) -> bytes:
    root = Element(name)
    for tag, value in values.items():
        SubElement(root, tag).text = value
    return tostring(root)


def main() -> None:
    port, behind = map(int, sys.argv[1:])
    serve(port, _Xml(behind).answer)


if __name__ == "__main__":
    main()
