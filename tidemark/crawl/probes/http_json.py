"""A JSON document over HTTP(S): one field says whether the slice is there. No redirects, limited in time and size."""

from __future__ import annotations

import http.client
import json
import time
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, build_opener

from tidemark.crawl.errors import ProbeError, ProbeSettingError
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.strict_json import json_text
from tidemark.system.web_request import NoRedirects

if TYPE_CHECKING:
    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.dependency_model.entity.probe import HttpProbe

_MOST_BYTES: Final = 1024 * 1024
_PART: Final = 16 * 1024
_NOT_FOUND: Final = 404
_NOTHING: Final = object()


def look(source: HttpProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """See HttpProbe. Raises ProbeError for a server that does not answer, or not with JSON."""
    url = context.secrets.fill(probed.text(source.url))
    if urlsplit(url).scheme not in ("http", "https"):
        raise ProbeSettingError("the probe's url must start with http:// or https://")
    headers = {name: context.secrets.fill(value) for name, value in source.headers.items()}
    body = _fetch(Request(url, headers={"Accept": "application/json", **headers}), context)  # noqa: S310 - looked at above
    return (
        Sight(is_there=False, why="404: the resource does not exist yet")
        if body is None
        else _sight(source, _json(body))
    )


def _sight(source: HttpProbe, document: Any) -> Sight:
    value = _at(document, source.field)
    if value is _NOTHING:
        raise ProbeError("the answer lacks a field", expected=source.field, found=type(document).__name__)
    why = f"{source.field} is {str(value)[:100]}"
    if type(value) is not type(source.equals) or value != source.equals:
        return Sight(is_there=False, why=why)
    rows = _rows(document, source.rows)
    why = why if rows is None else f"{why}, {rows} rows"
    return Sight(
        is_there=True, why=why, content=json_text(document, sort_keys=True)[:_PART] * (rows is None), rows=rows
    )


def _rows(document: Any, field: str | None) -> int | None:
    if field is None:
        return None
    rows = _at(document, field)
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 0:
        raise ProbeError("the answer has no number of rows", expected=f"a number in {field}", found=str(rows)[:100])
    return rows


def _at(document: Any, field: str) -> Any:
    for name in field.split("."):
        if not isinstance(document, dict) or name not in document:
            return _NOTHING
        document = document[name]
    return document


def _fetch(request: Request, context: ProbeContext) -> bytes | None:
    until = time.monotonic() + context.timeout_seconds
    try:
        with build_opener(NoRedirects).open(request, timeout=context.timeout_seconds) as answer:
            return _read(answer, until)
    except HTTPError as error:
        with error:
            if error.code == _NOT_FOUND:
                return None
        raise ProbeError("the server refused the request", found=f"status {error.code}") from None
    except (URLError, OSError, http.client.HTTPException, ValueError) as error:
        raise ProbeError("the server did not answer", found=context.secrets.mask(str(error))[:300]) from None


def _read(answer: http.client.HTTPResponse, until: float) -> bytes:
    """The body, limited in size and time, so that a slow sender does not block."""
    body = b""
    while part := answer.read1(_PART):
        body += part
        if len(body) > _MOST_BYTES:
            raise ProbeError("the answer is too long", expected=f"at most {_MOST_BYTES} bytes")
        if time.monotonic() > until:
            raise ProbeError("the answer took too long", found=f"{len(body)} bytes")
    if answer.length:  # fewer bytes than announced
        raise ProbeError(
            "the answer was cut off", expected=f"{len(body) + answer.length} bytes", found=f"{len(body)} bytes"
        )
    return body


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ProbeError("the answer is not JSON", found=f"{len(body)} bytes") from None
