"""A server of Spark Connect on loopback."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.spark.processes import ending, free_port, listening, started


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Run a server; its log is in a folder. Gives its address."""
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    options = [text for name, value in settings.items() for text in ("--conf", f"{name}={value}")]
    log = folder / "connect.log"
    server = started(
        "spark-submit",
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *("--name", "provenn-tests", "--master", "local[2]", *options),
        log=log,
    )
    with ending(server):
        listening(port, server, log)
        yield f"sc://127.0.0.1:{port}"
