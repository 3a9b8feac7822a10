"""A standalone cluster of Spark on loopback: a master and two workers, each a process of its own."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.spark.processes import ending, free_port, listening, started


@dataclass(frozen=True, slots=True)
class Cluster:
    """The address of the master, and the process groups of the workers."""

    url: str
    workers: tuple[int, ...]


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Run a cluster; its logs and working files are in a folder."""
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        deploy = "org.apache.spark.deploy"
        address = ("--host", "127.0.0.1", "--webui-port", "0")
        log = folder / "master.log"
        master = started("spark-class", f"{deploy}.master.Master", *address, "--port", str(port), log=log)
        stack.enter_context(ending(master))
        listening(port, master, log)
        workers = []
        for name in ("one", "two"):
            size = ("-c", "1", "-m", "2g", "-d", folder / name)
            log = folder / f"{name}.log"
            workers.append(started("spark-class", f"{deploy}.worker.Worker", *address, *size, url, log=log))
            stack.enter_context(ending(workers[-1]))
        yield Cluster(url, tuple(worker.pid for worker in workers))
