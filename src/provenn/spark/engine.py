"""Where data are computed: a Spark session, embedded, on a cluster, behind Spark Connect, or the user's own."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SETTINGS", "Engine"]

SETTINGS = {
    # What a criterion or an expression means must not depend on where it runs.
    "spark.sql.ansi.enabled": "false",  # a failing evaluation is NULL, never an exception
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    # Values pass from and to Parquet, Arrow and pandas as they are, or not at all.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.pyspark.fallback.enabled": "false",
    "spark.sql.execution.pandas.convertToArrowArraySafely": "true",
}


class Engine:
    """Where data are computed: a Spark session, started when it is first needed.

    Parameters
    ----------
    spark
        None for Spark inside this process, on all its cores; or a master URL.
    """

    def __init__(self, spark: object | None = None) -> None:
        self._spark = spark
        self._session: SparkSession | None = None

    @property
    def session(self) -> SparkSession:
        """The session, with `SETTINGS`; started now if it was not yet."""
        if self._session is None:
            from pyspark.sql import SparkSession

            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            builder = SparkSession.builder.master(str(self._spark or "local[*]"))
            for name, value in {
                "spark.ui.enabled": "false",
                "spark.ui.showConsoleProgress": "false",
                "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
                "spark.sql.shuffle.partitions": "2",
            }.items():
                builder = builder.config(name, value)
            self._session = builder.getOrCreate().newSession()
            for name, value in SETTINGS.items():
                self._session.conf.set(name, value)
        return self._session

    @property
    def started(self) -> bool:
        """Whether there is a session."""
        return self._session is not None

    @property
    def remote(self) -> bool:
        """Whether it is reached by Spark Connect."""
        return False

    def close(self) -> None:
        """Stop what this engine has started."""
        if self._session is not None:
            self._session.stop()
            self._session = None
