"""The table of forms in the reference says what `relate` answers."""

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import provenn

PAGE = Path(__file__).parents[3] / "docs/reference/criteria.md"
ROW = re.compile(r"\| `(.+)` \| `(.+)` \| (\w+) \|")
HEAD = "| first criterion | second criterion | answer |\n"


def read_rows() -> list[tuple[str, str, str]]:
    """Return the rows of all tables of forms on the page."""
    rows = []
    for table in PAGE.read_text(encoding="utf-8").split(HEAD)[1:]:
        for line in table.partition("\n\n")[0].splitlines()[1:]:
            match = ROW.fullmatch(line)
            assert match, line
            rows.append(match.groups())
    return rows


COLUMNS = {
    "hip": pa.int64(),
    **dict.fromkeys(["g", "r", "z", "b", "plx", "f", "x", "y", "ra", "dec"], pa.float64()),
    "vmag": pa.float32(),
    **dict.fromkeys(["n", "flags"], pa.int32()),
    "id": pa.int64(),
    "price": pa.decimal128(5, 2),
    "name": pa.string(),
    "ok": pa.bool_(),
    "d": pa.date32(),
    "at": pa.timestamp("us", "UTC"),
    "l": pa.list_(pa.float64()),
    "s": pa.struct([("a", pa.float64()), ("b", pa.int32())]),
}
DERIVED = {"col": "g - r", "bright": "g < 5", "half": "plx / 2"}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[provenn.Archive, provenn.Catalog]]:
    folder = tmp_path_factory.mktemp("forms")
    schema = pa.schema([pa.field(name, kind, nullable=name != "hip") for name, kind in COLUMNS.items()])
    rows = pa.Table.from_pylist([{"hip": 1}], schema)
    pq.write_table(rows, folder / "stars.parquet", write_statistics=False)  # criteria alone decide
    with provenn.open(folder / "survey") as archive:
        stars = archive.ingest("stars", folder / "stars.parquet", key="hip", population="star")
        yield archive, stars.derive(**DERIVED).derive(less="half - 1")


@pytest.mark.parametrize(("first", "second", "answer"), read_rows())
def test_each_row_of_the_table_is_what_relate_answers(catalog, first, second, answer):
    archive, stars = catalog
    assert archive.relate(stars.select(first), stars.select(second)).summary == answer


def test_a_proof_says_what_a_criterion_is_made_of(catalog):
    archive, stars = catalog
    reasons = archive.relate(stars.select("1000 / plx < 100"), stars.select("plx > 10 OR plx < 0")).reasons
    because = {str(reason.statement): reason.because for reason in reasons}
    words = "1000 / plx < 100 is (plx < 0 OR plx > 10) AND NOT isnan(plx); by the order of the values"
    assert because['"1000 / plx < 100" <= "plx > 10 OR plx < 0"'] == words
    reasons = archive.relate(stars.select("log10(f) <= 1"), stars.select("f > 11")).reasons
    assert any(reason.because.startswith("log10(f) <= 1 lies in f > 0 AND f < 10.000") for reason in reasons)
