"""HTTP/1.1 messages passed on as they came: heads and bodies byte for byte, as a signature covers both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

_PIECE: Final = 1 << 16
_NO_BODY: Final = (204, 304)
_CONTINUE: Final = 200
"""Answers below say that another one follows."""


@dataclass(frozen=True)
class Head:
    """The first line in its words, and the headers by name in lower case; `raw` is all of it as it came."""

    words: tuple[str, ...]
    headers: Mapping[str, str]
    raw: bytes

    @property
    def status(self) -> int:
        """Of an answer."""
        return int(self.words[1])

    @property
    def is_last(self) -> bool:
        """Whether no other answer to the same request follows."""
        return self.status >= _CONTINUE

    def has_body(self, method: str) -> bool:
        """Of an answer to a request by `method`."""
        return self.is_last and method != "HEAD" and self.status not in _NO_BODY

    @property
    def closes(self) -> bool:
        """Whether the connection ends with this message."""
        return self.headers.get("connection", "").lower() == "close"


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The next message's; None where the connection has ended."""
    raw = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    first, *lines = raw.decode("latin-1").split("\r\n")
    headers = dict(line.split(":", 1) for line in lines if line)
    return Head(tuple(first.split(" ")), {name.lower(): text.strip() for name, text in headers.items()}, raw)


async def relay_body(head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, to_end: bool) -> int:
    """Pass a body on; its bytes. `to_end`: without a length it ends with the connection, else there is none."""
    if head.headers.get("transfer-encoding", "").lower() == "chunked":
        return await _relay_chunks(reader, writer)
    length = head.headers.get("content-length")
    if length is not None:
        return await _relay_length(reader, writer, int(length))
    return await _relay_rest(reader, writer) if to_end else 0


async def _relay_length(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int) -> int:
    left = length
    while left:
        piece = await reader.read(min(left, _PIECE))
        if not piece:
            raise EOFError
        left -= len(piece)
        writer.write(piece)
        await writer.drain()
    return length


async def _relay_rest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    total = 0
    while piece := await reader.read(_PIECE):
        total += len(piece)
        writer.write(piece)
        await writer.drain()
    return total


async def _relay_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    total = 0
    while True:
        line = await reader.readuntil(b"\r\n")
        writer.write(line)
        size = int(line.partition(b";")[0], 16)
        if not size:
            return total + await _relay_trailer(reader, writer)
        total += await _relay_length(reader, writer, size + 2) - 2


async def _relay_trailer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
        writer.write(line)
    writer.write(line)
    await writer.drain()
    return 0
