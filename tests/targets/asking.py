"""Processes that ask one archive for targets, each with a Spark of its own, which takes long to start.

``python -m tests.targets.asking`` is such a process: it reads what to ask for, a line of JSON each, and writes answers.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[2]


class Asker:
    """A process that asks.

    Parameters
    ----------
    log
        What it writes besides answers goes there.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.targets.asking"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )

    def ask(self, **what: Any) -> None:
        """Have it ask for something; `answer` tells what came of it."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for the next answer."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self._log.read_text()[-3000:]
        answer: dict[str, Any] = json.loads(line)
        return answer

    def kill(self) -> None:
        """End it and all that it has started, at once."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()


@contextmanager
def asking(folder: Path, number: int) -> Iterator[list[Asker]]:
    """Let processes ask, all of which have started Spark."""
    folder.mkdir(parents=True, exist_ok=True)
    askers = [Asker(folder / f"asker-{one}.log") for one in range(number)]
    try:
        for one in askers:
            assert one.answer() == {"ready": True}
        yield askers
    finally:
        for one in askers:
            one.kill()


# --- in such a process ---


def main() -> None:
    """Ask for what the lines say, one after the other."""
    from provenn.errors import ProvennError  # noqa: PLC0415 - only here
    from provenn.spark.engine import Engine  # noqa: PLC0415

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is written is no answer
    with Engine("local[1]", brief=True) as engine:
        engine.session.range(10).count()
        print(json.dumps({"ready": True}), file=answers, flush=True)
        for line in sys.stdin:
            try:
                answer = _answer(engine, **json.loads(line))
            except ProvennError as error:
                answer = {"error": type(error).__name__, "message": str(error)}
            print(json.dumps(answer), file=answers, flush=True)


def _answer(engine: Any, database: str, store: str, who: str, attribute: str, **what: Any) -> dict[str, Any]:
    import provenn  # noqa: PLC0415 - only here
    from provenn.data import leases  # noqa: PLC0415
    from provenn.spark.pipeline import Pipeline  # noqa: PLC0415

    if "lifetime" in what:  # as if the others were on another machine, of whose processes nothing is known
        leases.LIFETIME = timedelta(seconds=what["lifetime"])
        leases.is_gone = lambda _holder: False  # type: ignore[assignment]
    told: set[str] = set()

    def listen(progress: Any) -> None:
        told.add(progress.what)
        if progress.what.startswith("waiting") and "waiting" in what:
            Path(what["waiting"], who).touch()

    place = {"database": database, "store": store}
    with provenn.open(**place, who=who, progress=False) as archive:  # type: ignore[arg-type]
        shop = archive.context.workshop
        shop._pipeline = Pipeline(archive.context.database, shop.folder, engine, listen)
        try:
            if what.get("keep") == "store":
                archive["stars"].derive(archive.find_calculator(attribute)).select(what["where"]).store()
            table = archive.target("stars", [attribute], where=what["where"]).to_arrow()
        finally:
            shop._pipeline = None
    ids, values = table.column("id").to_pylist(), table.column(attribute).to_pylist()
    return {"values": sorted(zip(ids, values, strict=True)), "waited": sorted(one for one in told if "waiting" in one)}


if __name__ == "__main__":
    main()
