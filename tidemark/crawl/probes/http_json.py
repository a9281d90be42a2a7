"""A JSON document over HTTP(S): one field says whether the slice is there. No redirects, limited in time and size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import Request

from tidemark.crawl.errors import ProbeError, ProbeSettingError
from tidemark.crawl.json_request import NOT_THERE, fetch_json
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from tidemark.crawl.probed_slice import ProbeContext, ProbedSlice
    from tidemark.dependency_model.entity.probe import HttpProbe

_PART: Final = 16 * 1024
_NOTHING: Final = object()


def look(source: HttpProbe, probed: ProbedSlice, context: ProbeContext) -> Sight:
    """See HttpProbe. Raises ProbeError for a server that does not answer, or not with JSON."""
    url = context.secrets.fill(probed.text(source.url))
    if urlsplit(url).scheme not in ("http", "https"):
        raise ProbeSettingError("the probe's url must start with http:// or https://")
    headers = {name: context.secrets.fill(value) for name, value in source.headers.items()}
    request = Request(url, headers={"Accept": "application/json", **headers})  # noqa: S310 - looked at above
    document = fetch_json(request, context.timeout_seconds, context.secrets.mask)
    return (
        Sight(is_there=False, why="404: the resource does not exist yet")
        if document is NOT_THERE
        else _sight(source, document)
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
