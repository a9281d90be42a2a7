"""Files of suppliers with anything in them: a probe sees them or refuses them, soon, and shows nothing of them."""

from __future__ import annotations

import gzip
import io
import shutil
import time
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.crawl.probed_rules import DAY
from tests.crawl.source_world import look
from tests.seeds import chunks
from tidemark.crawl.errors import ProbeError

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "hunter2"
SECONDS = 2.0
RULES = "quality: [{not_null: [id]}, {unique: [id]}, {accepted_values: {column: b, values: [x]}}]\n"
NAMES = (
    "a.csv",
    "a.json",
    "a.jsonl",
    "a.parquet",
    "a.csv.gz",
    "a.json.gz",
    "MANIFEST",
    "\u202eb.csv",
    "a b;.csv",
    "-.csv",
)
PIECES = (
    b'"',
    b"\x00",
    b"\xff\xfe",
    b",",
    b"\n",
    b"\r",
    b"{",
    b"[",
    b"}" * 50,
    b"[" * 2_000,
    b"9" * 400,
    b"\\u d800",
    b"PAR1",
)


def text_of(chance: Random, name: str) -> bytes:
    rows = [(number, chance.choice(("x", "y", CANARY, ""))) for number in range(chance.randrange(5))]
    if "json" in name:
        return "".join(f'{{"id": {number}, "b": "{value}"}}\n' for number, value in rows).encode()
    if name.endswith("parquet"):
        written = io.BytesIO()
        table = pa.table({"id": [number for number, _ in rows], "b": [value for _, value in rows]})
        pq.write_table(table, written)
        return written.getvalue()
    return "".join(["id,b\n", *(f"{number},{value}\n" for number, value in rows)]).encode()


def broken(chance: Random, text: bytes) -> bytes:
    for _ in range(chance.randrange(6)):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice((*PIECES, chance.randbytes(8))) + text[at + chance.randrange(20) :]
    return text


def probe(chance: Random, folder: Path) -> None:
    for _ in range(chance.randrange(1, 3)):
        name = chance.choice(NAMES)
        written = broken(chance, text_of(chance, name))
        if name == "MANIFEST":  # a name that it lists is shown
            written = written.replace(CANARY.encode(), b"a.csv")
        (folder / name).write_bytes(
            gzip.compress(written) if name.endswith("gz") and chance.random() < 0.7 else written
        )
    more = chance.choice(("", ", manifest: MANIFEST"))
    begun = time.process_time()
    try:
        sight = look(f"files: {{path: '{folder.parent}/{{key}}'{more}}}", DAY, more=chance.choice(("", RULES)))
    except ProbeError as error:
        shown = str(error)
    else:
        shown = sight.why
    assert time.process_time() - begun < SECONDS
    assert shown.isprintable()
    assert CANARY not in shown


def probe_many(root: Path, first: int, count: int) -> None:
    folder = root / DAY
    for seed in range(first, first + count):
        folder.mkdir(parents=True)
        try:
            probe(Random(seed), folder)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        shutil.rmtree(folder)


def test_any_file_is_seen_or_refused(tmp_path: Path) -> None:
    probe_many(tmp_path, 100, 60)


@pytest.mark.long
@pytest.mark.parametrize("first", chunks(1_000, 1_000, 5_000))
def test_five_thousand_files_are_seen_or_refused(tmp_path: Path, first: int) -> None:
    probe_many(tmp_path, first, 1_000)
