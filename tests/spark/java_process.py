"""A process with a Java of its own, which computes what tests ask for: ``python -m tests.spark.java_process``.

A question is a line of JSON, the name of a function below and its arguments; so is each answer. All questions of a
process are answered by one Spark, since starting one takes long.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import provenn
from provenn.spark.engine import Engine
from tests.spark.battery import compute_battery
from tests.spark.functions import marked
from tests.spark.javas import on_java

__all__ = ["ANSWERS", "java_process"]

ROOT = Path(__file__).parents[2]

Ask = Callable[..., Any]


@contextmanager
def java_process(java: Any, **environment: str) -> Iterator[Ask]:
    """Run a process on a Java; yield a function that asks it."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.java_process"],
            env=on_java(java) | environment,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )

        def ask(question: str, *arguments: object) -> Any:
            process.stdin.write(json.dumps([question, *map(str, arguments)]) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            errors.seek(0)
            assert answer, errors.read()[-3000:]
            return json.loads(answer)

        try:
            yield ask
        finally:
            process.stdin.close()
            process.wait()
            process.stdout.close()


def battery(engine: Engine, source: str, result: str) -> str:
    """Compute all expressions on a table of inputs; return the version of Java."""
    return compute_battery(engine, source, result)


def target(_: Engine, data: str, place: str) -> Mapping[str, object]:
    """Ask an archive for what text and a calculator make of a float's digits; make the archive if it is empty."""
    with provenn.open(place, progress=False) as archive:
        if len(archive) == 0:
            stars = archive.ingest("stars", data, key="id", population="star")
            written = stars.derive(words="string(flux)", name="written")
            outputs = {"m size": "bigint", "m": "string"}
            parameters = {"output": "m", "mark": "!"}
            archive.calculator("marked", marked, inputs=["words"], outputs=outputs, parameters=parameters)
            written.select("length(words) > 10", name="long")
        request = archive.target("written", ["words", "m"])
        plan = str(request.plan())
        rows = request.to_pandas().sort_values("id")
        count = archive["long"].count()
    return {"plan": plan, "words": rows["words"].tolist(), "m": rows["m"].tolist(), "count": count}


ANSWERS: Mapping[str, Ask] = {"battery": battery, "target": target}
"""The functions that answer questions, by name; each takes an engine before its arguments."""


def answer_questions() -> None:
    """Answer questions until there are no more."""
    with Engine("local[2]", brief=True) as engine:
        for line in sys.stdin:
            question, *arguments = json.loads(line)
            print(json.dumps(ANSWERS[question](engine, *arguments)), flush=True)  # noqa: T201


if __name__ == "__main__":
    answer_questions()
