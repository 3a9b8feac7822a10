"""A command's way to the warm Spark: a Spark context of pyspark on the Java of the keeper."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from provenn.database.secrets import remove_secrets
from provenn.errors import EngineError, ProvennError
from provenn.spark.brief_environment import set_environment
from provenn.spark.confinement import Confinement
from provenn.spark.warm.asking import ask_keeper
from provenn.spark.warm.folder import find_warm_folder
from provenn.spark.warm.surroundings import describe_surroundings
from provenn.spark.warm.worker_side import GUEST, OUTPUT, write_inheritance
from provenn.spark.worker_environment import NAMES, build_worker_environment

__all__ = ["AttachedContext", "attach_context", "is_attached"]

_LAST = "\0\n"  # the line that ends the output of workers


class AttachedContext(SparkContext):
    """The Spark context of a keeper in a command; `stop` leaves the keeper and stops nothing.

    Parameters
    ----------
    connection
        The connection to the keeper: as long as it is open, the command uses the Spark.
    answer
        What the keeper has said about the gateway.
    confinement
        The confinement of processes that run calculators.
    """

    def __init__(self, connection: socket.socket, answer: Mapping[str, Any], confinement: Confinement) -> None:
        self._connection: socket.socket | None = connection
        self._guest_tag = str(answer["tag"])
        variables = {
            "PYSPARK_GATEWAY_PORT": str(int(answer["port"])),
            "PYSPARK_GATEWAY_SECRET": str(answer["secret"]),
        }
        with set_environment(variables):
            gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]
        java = gateway.jvm
        context = java.org.apache.spark.SparkContext.getOrCreate()
        wrapped = java.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(context)
        super().__init__(conf=SparkConf(_jconf=context.getConf()), gateway=gateway, jsc=wrapped)
        try:
            super().addJobTag(self._guest_tag)
            self._prepare_workers(Path(str(answer["folder"])), confinement)
        except BaseException:
            self.stop()
            raise

    def _prepare_workers(self, folder: Path, confinement: Confinement) -> None:
        """Have workers follow this command, by its guest folder."""
        self._output = _WorkerOutput(folder / OUTPUT)
        java_names = [*self.environment]  # from spark.executorEnv.NAME
        inherited = build_worker_environment(remove_secrets(os.environ), named=confinement.variables)
        write_inheritance(folder, inherited, java_names)
        self.environment.update({NAMES: " ".join([*confinement.variables, *java_names]), GUEST: str(folder)})

    def addJobTag(self, tag: str) -> None:  # noqa: N802 - as pyspark calls it
        """Add a tag to the jobs of this thread, and the tag by which the keeper cancels them when the command ends."""
        super().addJobTag(tag)
        super().addJobTag(self._guest_tag)

    def stop(self) -> None:
        """Leave the keeper."""
        output, connection = getattr(self, "_output", None), self._connection
        self._connection = None
        if connection is None:
            return
        if output is not None:
            output.finish()
        if getattr(self, "_accumulatorServer", None):
            self._accumulatorServer.shutdown()
        gateway = SparkContext._gateway  # noqa: SLF001
        self._jsc = None
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None  # noqa: SLF001
        SparkSession._instantiatedSession = SparkSession._activeSession = None  # noqa: SLF001
        with suppress(Exception):
            gateway.close()  # type: ignore[union-attr]
        connection.close()


class _WorkerOutput:
    """What the workers of this process print: it goes to the standard error, in a notebook to the cell."""

    def __init__(self, pipe: Path) -> None:
        # Also open for writing: a pipe whose last writer has gone would be at its end.
        self._pipe = os.open(pipe, os.O_RDWR)
        self._thread = threading.Thread(target=self._pass_on, daemon=True, name="output of workers")
        self._thread.start()

    def finish(self) -> None:
        """Pass on what is left."""
        with suppress(OSError):
            os.set_blocking(self._pipe, False)
            os.write(self._pipe, _LAST.encode())
        self._thread.join(2)

    def _pass_on(self) -> None:
        with suppress(OSError), os.fdopen(self._pipe, encoding="utf-8", errors="replace", closefd=False) as lines:
            for line in lines:
                with suppress(Exception):  # sys.stderr may be closed or None
                    sys.stderr.write(line.removesuffix(_LAST))
                if line.endswith(_LAST):
                    return


def attach_context(confinement: Confinement) -> tuple[AttachedContext | None, str]:
    """Return the context of the warm Spark in this process; or None, and in words why this process needs its own.

    The reason is empty if there is no warm Spark.
    """
    if SparkContext._gateway is not None:  # noqa: SLF001 - a stopped context of the user leaves its Java
        return None, ""
    try:
        folder = find_warm_folder()
        if folder is None or not folder.socket.exists():
            return None, ""
        if confinement.user:
            return None, f"calculators run as {confinement.user}"
        message = {"want": "attach", "command": _name_command(), "surroundings": describe_surroundings()}
        connection, answer = ask_keeper(folder, message)
    except EngineError as error:
        return None, error.message
    except (OSError, ValueError) as error:
        return None, f"it does not answer ({error})"
    if "refused" in answer:
        connection.close()
        return None, str(answer["refused"])
    try:
        connection.settimeout(None)
        return AttachedContext(connection, answer, confinement), ""
    except Exception as error:  # noqa: BLE001 - whatever is wrong, this process can start its own
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None  # noqa: SLF001
        connection.close()
        reason = error.message if isinstance(error, ProvennError) else str(error).strip().split("\n", 1)[0]
        return None, f"it cannot be used ({reason})"


def is_attached() -> bool:
    """Tell whether this process uses the warm Spark."""
    return isinstance(SparkContext._active_spark_context, AttachedContext)  # noqa: SLF001


def _name_command() -> str:
    """Return the program and its command, without arguments, which may hold secrets."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]])
