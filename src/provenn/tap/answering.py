"""Answers to queries: from the metadata of the archive where they suffice, otherwise from data.

Data are read without Spark where a look has the same answer (`provenn.targets.looking`); otherwise Spark computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlglot import exp

from provenn import deadline
from provenn.archive import Archive, Catalog
from provenn.archive.querying import translate_text
from provenn.catalogs import Base
from provenn.errors import QueryError
from provenn.queries.adql_dialect import ADQL
from provenn.queries.translation import Translation
from provenn.tap.known_counts import find_counted_catalog, find_known_count
from provenn.tap.plain_tables import make_plain_table
from provenn.tap.schema_queries import answer_schema_query, is_schema_query, parse_adql
from provenn.tap.served_tables import SCHEMA, ServedTable

__all__ = ["QueryRequest", "TapAnswer", "answer_from_metadata", "compute_answer"]

_LARGEST: Final = 2 * 10**9
"""The most bytes of an answer in memory."""

_LARGEST_OFFSET: Final = 10**9
"""The most rows that Spark passes over."""


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A query with all that its answer needs.

    Parameters
    ----------
    text
        The ADQL.
    most
        The largest number of rows of the answer.
    uploads
        The uploaded tables, by names such as ``tap_upload.mine``.
    """

    text: str
    most: int
    uploads: Mapping[str, Base] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TapAnswer:
    """The answer to a query.

    Parameters
    ----------
    table
        The rows, as a plain table of Arrow.
    overflow
        Whether more rows match.
    plan
        The plan, and the proofs behind it, in words.
    rests_on
        The declared facts behind the answer, in words.
    digest
        The digest of the only catalog that the query reads; empty if there are several or none.
    """

    table: Any
    overflow: bool = False
    plan: str = ""
    rests_on: tuple[str, ...] = ()
    digest: str = ""


def answer_from_metadata(archive: Archive, request: QueryRequest, tables: Sequence[ServedTable]) -> TapAnswer | None:
    """Return the answer to a query of TAP_SCHEMA, or a known count; None for a query that needs data.

    Parameters
    ----------
    archive
        The archive, as the viewer sees it.
    request
        The query.
    tables
        The tables that the viewer sees.

    Raises
    ------
    QueryError
        If the query cannot be parsed, or names what does not exist.
    """
    tree = parse_adql(request.text)
    if not is_schema_query(tree):
        count = None if request.uploads else find_known_count(archive, request.text, tree)
        if count is None:
            return None
        return _limit_rows(count.make_table(), request.most, "The count is known: nothing is computed.", count.rests_on)
    table = answer_schema_query(request.text, tree, tables, request.most + 1)
    return _limit_rows(table, request.most, "The answer is read from the metadata of the archive.")


def compute_answer(
    archive: Archive, request: QueryRequest, tables: Sequence[ServedTable], tell_plan: Callable[[str], None]
) -> TapAnswer:
    """Return the answer to a query of catalogs, from their data unless it is proved to be empty.

    Parameters
    ----------
    archive
        The archive, as the viewer sees it, with listeners of its own.
    request
        The query.
    tables
        The tables that the viewer sees.
    tell_plan
        Receives the plan in words before anything is computed.

    Raises
    ------
    ProvennError
        If the query cannot be translated or computed.
    """
    if not request.uploads:
        counted = find_counted_catalog(archive, request.text, parse_adql(request.text))
        if counted is not None:
            tell_plan(_describe_plan(counted.catalog))
            table = counted.count().make_table()
            return _limit_rows(table, request.most, _describe_plan(counted.catalog), _list_declared(archive))
    tree = parse_adql(request.text)
    is_sorted = bool(tree.args.get("order") or tree.args.get("offset"))  # otherwise any rows will do
    translation = _translate(archive, request, is_sorted=is_sorted)
    order = tree.args.get("order")
    if order is not None and len(translation.order) < len(order.expressions):
        raise QueryError("the rows cannot be sorted so", hint="select what they are sorted by, and name it in ORDER BY")
    catalog = Catalog(archive, translation.catalog)
    number = request.most + 1 if translation.limit is None else min(translation.limit, request.most + 1)
    plan = _describe_plan(catalog) + (_describe_order(translation, number) if is_sorted else "")
    tell_plan(plan)
    deadline.check()
    table = _collect_rows(catalog, translation, 0 if request.most == 0 else number, is_sorted=is_sorted)
    digest = _find_only_table(request.text, tables)
    return _limit_rows(
        table.select(list(translation.columns)), request.most, plan, _list_declared(archive), digest=digest
    )


def _translate(archive: Archive, request: QueryRequest, *, is_sorted: bool) -> Translation:
    """Return the catalog of a query, with all rows and with what they are sorted by."""
    return translate_text(
        archive.context,
        request.text,
        ADQL,
        {},
        schemas=(SCHEMA,),
        is_request=is_sorted,
        keeps_order=is_sorted,
        takes_first=False,
        uploads=request.uploads,
    )


def _collect_rows(catalog: Catalog, translation: Translation, number: int, *, is_sorted: bool) -> Any:  # noqa: ANN401 - a table of Arrow
    """Return rows of a catalog: the first ones of an order, all if they are known to be few, or any that are there.

    ADQL leaves open which rows TOP takes if there is no order.

    Raises
    ------
    QueryError
        If OFFSET is too large.
    """
    from provenn.look.arrow_tables import add_field_metadata, make_empty_table  # noqa: PLC0415 - not for metadata
    from provenn.look.row_order import ColumnOrder  # noqa: PLC0415 - see above

    schema, workshop = catalog.definition.schema, catalog.archive.context.workshop
    if number == 0:
        return make_empty_table(schema)
    if is_sorted:
        if translation.offset > _LARGEST_OFFSET:
            raise QueryError(f"OFFSET is {translation.offset}, and the limit is {_LARGEST_OFFSET:,}")
        order = [ColumnOrder(*part) for part in translation.order]
        return workshop.collect_sorted_rows(catalog.plan, "worthwhile", order, number, translation.offset)
    high = catalog.plan().rows.high
    if high is not None and high <= number:
        return catalog.to_arrow(limit=_LARGEST)
    return add_field_metadata(workshop.collect_first_rows(catalog.plan, number), schema)


def _limit_rows(
    table: Any,  # noqa: ANN401 - a table of Arrow
    most: int,
    plan: str,
    rests_on: tuple[str, ...] = (),
    *,
    digest: str = "",
) -> TapAnswer:
    overflow = most == 0 or table.num_rows > most
    return TapAnswer(make_plain_table(table.slice(0, most)), overflow, plan, rests_on, digest)


def _find_only_table(text: str, tables: Sequence[ServedTable]) -> str:
    """Return the digest of the only catalog that a query names; empty if it names several, or none by its own name."""
    names = {".".join(part.name for part in table.parts).lower() for table in parse_adql(text).find_all(exp.Table)}
    digests = {table.digest for table in tables if table.catalog.lower() in names}
    return digests.pop() if len(names) == len(digests) == 1 else ""


def _list_declared(archive: Archive) -> tuple[str, ...]:
    """Return the declared facts behind the latest answer, in words."""
    return tuple(fact.words for notice in archive.notices if notice.kind == "rests on" for fact in notice.facts)


def _describe_plan(catalog: Catalog) -> str:
    """Return a plan and the proofs behind it, in words."""
    plan = catalog.plan()
    lines = [plan.text(100), ""]
    for reason in plan.reasons:
        if reason.statements:
            lines.append(f"{reason.rule}: {reason.because}")
            lines += [f"  {statement}" for statement in reason.statements]
            lines += [f"    {line}" for line in reason.proof]
    return "\n".join(lines).rstrip() + "\n"


def _describe_order(translation: Translation, number: int) -> str:
    """Return how rows are sorted, and which of them are taken, in words."""
    names = [f"{name}{' descending' if is_descending else ''}" for name, is_descending, _ in translation.order]
    skipped = f" after the first {translation.offset:,}" if translation.offset else ""
    return f"\nthe rows are sorted by {', '.join([*names, 'the key'])}; {number:,} are taken{skipped}\n"
