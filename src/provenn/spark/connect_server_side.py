"""What a server of Spark Connect says about relations, tables and its session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from provenn.errors import QueryError
from provenn.hints import Hint
from provenn.spark.connect_relations import parse_name
from provenn.spark.plan_reading_leaves import SparkRelation, normalize_address
from provenn.spark.plan_reading_refusals import check_session, make_refusal
from provenn.spark.spark_errors import collect_error_text

__all__ = ["ConnectServer"]

_NEEDED: Final = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.groupByAliases": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
}
"""Settings that decide what an unresolved plan means, and their usual values."""
_UTC: Final = ("UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "+00:00")
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1", "[::1]")
_BUILT_IN: Final = "org.apache.spark.sql.catalyst.expressions."


@dataclass(slots=True)
class ConnectServer:
    """The server behind a session of Spark Connect.

    Parameters
    ----------
    session
        The session.
    """

    session: Any
    _columns: dict[bytes, tuple[tuple[str, str], ...]] = field(default_factory=dict)

    @property
    def is_utc(self) -> bool:
        """Whether the session converts moments in UTC."""
        return self.session.conf.get("spark.sql.session.timeZone") in _UTC

    def check_session(self) -> None:
        """Raise `QueryError` if a setting of the session changes what plans mean."""
        check_session(self.session)
        for name, value in _NEEDED.items():
            own = str(self.session.conf.get(name, value))
            if own.lower() != value.lower():
                raise QueryError(
                    f"the session has {name}={own}, which changes what DataFrames of Spark Connect mean",
                    hint=f"make the DataFrame in a session with spark.conf.set('{name}', '{value}')",
                )

    def check_functions(self, names: set[str]) -> None:
        """Raise `QueryError` if a function is not that of Spark: a session may register its own under any name."""
        from pyspark.errors import PySparkException  # noqa: PLC0415 - few archives adopt

        for name in sorted(names):
            try:
                class_name = self.session.catalog.getFunction(name).className
            except PySparkException:
                continue  # a part of the grammar, such as CASE, and no function
            if class_name and not class_name.startswith(_BUILT_IN):
                raise make_refusal(name, "is a function of the user", "register a calculator for it")

    def describe_columns(self, relation: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401 - a message of Connect
        """Return the names and types of the columns of a relation.

        Raises
        ------
        QueryError
            If the server does not understand the relation.
        """
        key = relation.SerializeToString(deterministic=True)
        if key not in self._columns:
            fields = self._analyze("schema", relation).schema.fields
            self._columns[key] = tuple((item.name, item.dataType.simpleString()) for item in fields)
            for name, kind in self._columns[key]:
                if "collate" in kind.lower():
                    raise QueryError(
                        f"texts that are compared by a collation are not supported: {name} {kind}",
                        hint="compare upper() or lower() of the texts",
                    )
        return self._columns[key]

    def _analyze(self, method: str, relation: Any) -> Any:  # noqa: ANN401 - see above
        from pyspark.errors import PySparkException  # noqa: PLC0415 - few archives adopt
        from pyspark.sql.connect.proto import Plan  # noqa: PLC0415 - needs gRPC

        try:
            return self.session.client._analyze(method=method, plan=Plan(root=relation))  # noqa: SLF001 - no public call
        except PySparkException as error:
            reason = collect_error_text(error).splitlines()[0]
            raise QueryError(f"Spark does not understand the DataFrame: {reason}") from error

    def describe_files(self, relation: Any) -> SparkRelation:  # noqa: ANN401 - see above
        """Return what a relation that reads files reads.

        Raises
        ------
        QueryError
            If this process cannot know which files are meant.
        """
        source = relation.read.data_source
        if relation.read.is_streaming:
            raise make_refusal("Read", "is a stream, which is never complete", "adopt a DataFrame of stored data")
        options = {str(name).lower(): str(value) for name, value in source.options.items()}
        paths = [*source.paths, *([options["path"]] if "path" in options else [])]
        if not paths or source.predicates:
            raise make_refusal("Read", "of something else than files is not supported", "save it as Parquet")
        addresses = tuple(
            sorted(normalize_address(file) for file in self._analyze("input_files", relation).input_files)
        )
        self._check_place(addresses)
        return SparkRelation(
            (),
            addresses,
            tuple(_complete_path(normalize_address(path), addresses) for path in paths),
            (source.format or str(self.session.conf.get("spark.sql.sources.default"))).lower(),
            options,
            self.describe_columns(relation),
        )

    def _check_place(self, addresses: tuple[str, ...]) -> None:
        """Raise `QueryError` for paths of another machine, where the same path may be another file."""
        host = str(self.session.client.host)
        if host not in _LOOPBACK and any("://" not in address for address in addresses):
            raise QueryError(
                f"the files are on the machine {host}: {addresses[0]}",
                hint=Hint(
                    "say which catalog they are: tables={path: name}, or read them from a shared store",
                    command="read them from a shared store",
                ),
            )

    def describe_table(self, relation: Any, name: str) -> SparkRelation:  # noqa: ANN401 - see above
        """Return which table of the server a name means.

        Raises
        ------
        QueryError
            If it is a view: its query stays on the server.
        """
        from pyspark.errors import PySparkException  # noqa: PLC0415 - few archives adopt

        try:
            table = self.session.catalog.getTable(name)
        except PySparkException as error:
            raise QueryError(f"Spark has no table {name}") from error
        if table.isTemporary or "VIEW" in str(table.tableType):
            own = parse_name(name)[-1]
            raise QueryError(
                f"{name} is a view, whose query stays on the server of Spark Connect",
                hint=Hint(
                    f'say which catalog it is: tables={{"{own}": "…"}}; or use the DataFrame instead of the view',
                    command="use the DataFrame instead of the view",
                ),
            )
        parts = (table.catalog or "spark_catalog", *(table.namespace or ()), table.name)
        return SparkRelation(tuple(map(str, parts)), (), (), "", {}, self.describe_columns(relation))


def _complete_path(path: str, addresses: tuple[str, ...]) -> str:
    """Return the absolute form of a path that the server has taken from its own folder."""
    if path.startswith("/") or "://" in path:
        return path
    place = path.removeprefix("./").rstrip("/")
    roots = {address[: address.find(f"/{place}") + len(place) + 1] for address in addresses if f"/{place}" in address}
    if len(roots) != 1:
        raise QueryError(f"the path {path} begins in a folder of the server", hint="write the whole path")
    return roots.pop()
