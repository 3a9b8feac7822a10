"""One archive, used on two Javas: each has its own answers, and no stored answer of one is served on the other."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.spark.javas import newer_java, older_java, on_java

ROOT = Path(__file__).parent.parent.parent
SCRIPT = """
import json, sys
import provenn
from provenn.spark.engine import Engine
from tests.spark.functions import marked

def ask(place):
    with provenn.open(place, progress=False) as archive:
        if len(archive) == 0:
            stars = archive.ingest("stars", sys.argv[1], key="id", population="star")
            written = stars.derive(words="string(flux)", name="written")
            archive.calculator("marked", marked, inputs=["words"], outputs={"m size": "bigint", "m": "string"},
                               parameters={"output": "m", "mark": "!"})
            written.select("length(words) > 10", name="long")
        target = archive.target("written", ["words", "m"])
        plan = str(target.plan())
        rows = target.to_pandas().sort_values("id")
        count = archive["long"].count()
    return {"plan": plan, "words": rows["words"].tolist(), "m": rows["m"].tolist(), "count": count}

with Engine("local[1]") as engine:  # one Java for all questions
    assert engine.session
    print(json.dumps([ask(place) for place in sys.argv[2:]]))
"""


def answers(java, data: Path, *archives: Path) -> list[dict]:
    """Ask archives, one after the other, on a Java, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, data, *archives],
        env=on_java(java),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_no_stored_answer_of_one_java_is_served_on_another(tmp_path):
    """What a calculator made of text, and how many sources text selects, both made from a float's digits."""
    data = tmp_path / "stars.parquet"
    flux = np.random.default_rng(7).integers(-(2**31), 2**31, 4000, dtype=np.int64).astype(np.int32).view(np.float32)
    pq.write_table(pa.table({"id": np.arange(len(flux)), "flux": pa.array(flux)}), data)
    shared, own = tmp_path / "shared", tmp_path / "alone"
    (first,) = answers(older_java(), data, shared)
    alone, other, newest = answers(newer_java(), data, own, shared, shared)
    (again,) = answers(older_java(), data, shared)
    assert first["words"] != alone["words"], "the two Javas write numbers in the same way: what is compared?"
    assert "fragment #1 was computed on Java 17, but this is Java 25" in other["plan"]
    assert {**other, "plan": ""} == {**alone, "plan": ""}, "computed anew"
    assert "read from fragment #1" in again["plan"]
    assert {**again, "plan": ""} == {**first, "plan": ""}, "the answers of the first Java are still there"
    assert "read from fragment #2" in newest["plan"]
    assert {**newest, "plan": ""} == {**alone, "plan": ""}
