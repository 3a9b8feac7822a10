"""The overview of a catalog's data: its size, some rows, and tallies of its values, read without Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from provenn.archive.array_curves import SeenCurves, find_curves, recall_curves
from provenn.archive.context import Context
from provenn.archive.kept_tallies import keep_made_tally, plan_columns, recall_tally
from provenn.archive.stored_fragments import list_stored_fragments
from provenn.catalogs import Catalog, cone, list_bases
from provenn.criteria import Type
from provenn.display.cell_texts import format_cell, list_values
from provenn.display.row_counts import Rows
from provenn.display.value_tally import ValueTally
from provenn.errors import ProvennError, SparkNeededError
from provenn.look.array_types import parse_array_type

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.words.described_plan import DescribedPlan

__all__ = ["Overview", "SeenValues", "make_overview"]

_SHOWN: Final = 10
_MOST_ROWS: Final = 10_000
_MOST_ARRAYS: Final = 1_000
"""The most rows with arrays, which may be long."""
_MOST_VALUES: Final = 2_000_000
_LONGEST_LINEAGE: Final = 250
"""The most catalogs of a lineage that is planned for a page."""


@dataclass(frozen=True, slots=True)
class SeenValues:
    """Some rows of a catalog, and the tallies of their values.

    Attributes
    ----------
    rows_read, is_whole
        The number of rows that were tallied, and whether these are all rows.
    columns, rows
        The attributes, and the first rows, each value as text or None for NULL.
    tallies
        The tally of each attribute.
    left_out
        The attributes that only Spark can compute.
    fragments
        The numbers of the fragments that were stored for these sources: with others, more may be readable.
    curves
        The arrays of the first sources.
    """

    rows_read: int
    is_whole: bool
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    tallies: tuple[ValueTally, ...]
    left_out: tuple[str, ...] = ()
    fragments: tuple[int, ...] = ()
    curves: tuple[SeenCurves, ...] = ()


@dataclass(frozen=True, slots=True)
class Overview:
    """What is known of the data of a catalog without starting Spark.

    Attributes
    ----------
    size
        The number of sources: counted, bounded or estimated.
    values
        Rows and tallies; None if they cannot be read without Spark.
    refusal
        Why values cannot be read; empty if they can.
    rests_on
        The declared facts on which the answer rests, in words.
    """

    size: Rows
    values: SeenValues | None
    refusal: str = ""
    rests_on: tuple[str, ...] = ()

    @property
    def size_words(self) -> str:
        """How the number of sources is known, in a word."""
        if self.size.is_exact:
            return "by a declared fact" if self.rests_on and not self.size.low else "counted"
        bounds = "bounded" if self.size.high is not None or self.size.low else ""
        guess = "estimated" if self.size.estimate is not None else ""
        return " and ".join(filter(None, (bounds, guess))) or "unknown without reading data"


def make_overview(context: Context, catalog: Catalog, name: str) -> Overview:
    """Return the overview of a catalog; `name` is for messages.

    Values are read once, and kept: at most some thousand rows, from Parquet files and fragments, never by Spark.
    """
    replan = plan_columns(context, catalog, name, catalog.schema.names)
    try:
        values = _recall_values(context, catalog)
        if values is None:
            values = _see_values(context, catalog, name, replan)
            rests_on = tuple(fact.words for fact in replan().rests_on)
        else:
            rests_on = ()  # what rests on facts is not kept
    except ProvennError as error:
        return Overview(_bound_size(catalog, replan), None, error.message)
    size = Rows.exactly(values.rows_read) if values.is_whole else _bound_size(catalog, replan)
    return Overview(size, values, rests_on=rests_on)


def _bound_size(catalog: Catalog, replan: Callable[[], DescribedPlan]) -> Rows:
    """Return the number of sources as far as a plan shows it."""
    if len(cone(catalog)) > _LONGEST_LINEAGE:
        return Rows()
    try:
        return replan().rows
    except ProvennError:
        return Rows()


def _see_values(context: Context, catalog: Catalog, name: str, replan: Callable[[], DescribedPlan]) -> SeenValues:
    """Read some rows; if a part of the attributes needs Spark, read the others."""
    if len(cone(catalog)) > _LONGEST_LINEAGE:
        raise SparkNeededError(f"the lineage of {len(cone(catalog)):,} catalogs is too long to be read for a page")
    names = catalog.schema.names
    try:
        return _read_values(context, catalog, replan, ())
    except SparkNeededError as error:
        refusal = error
    tried = [names]
    for arrays in (True, False):  # arrays may be too large, or be stored in an old form
        readable = _find_base_attributes(catalog, arrays=arrays)
        if readable and readable not in tried:
            tried.append(readable)
            left_out = tuple(attribute for attribute in names if attribute not in readable)
            try:
                return _read_values(context, catalog, plan_columns(context, catalog, name, readable), left_out)
            except SparkNeededError as error:
                refusal = error
    raise refusal


def _find_base_attributes(catalog: Catalog, *, arrays: bool) -> tuple[str, ...]:
    """Return the names of the attributes that base catalogs have, in a type that is read without Spark."""
    from provenn.look.suitability import is_readable_type  # noqa: PLC0415 - a command starts without it

    def is_readable(kind: Type) -> bool:
        return is_readable_type(kind) or (arrays and parse_array_type(kind) is not None)

    known = {attribute.identity for base in list_bases(cone(catalog)) for attribute in base.schema.attributes}
    key = {attribute.name for attribute in catalog.schema.key}
    return tuple(
        attribute.name
        for attribute in catalog.schema.attributes
        if attribute.name in key or (attribute.identity in known and is_readable(attribute.type))
    )


def _read_values(
    context: Context, catalog: Catalog, replan: Callable[[], DescribedPlan], left_out: Sequence[str]
) -> SeenValues:
    """Read some rows with the attributes of a plan, and keep what is seen."""
    columns = replan().columns
    most = min(_MOST_ROWS, max(_SHOWN, _MOST_VALUES // max(1, len(columns))))
    if any(parse_array_type(column.type) for column in columns):
        most = min(most, _MOST_ARRAYS)
    table = context.workshop.collect_first_rows(replan, most, engine="look")
    values = _tally_table(catalog, table, table.num_rows < most)
    values = replace(values, left_out=tuple(left_out), fragments=_find_fragments(context, catalog))
    keep_made_tally(context, catalog, "overview", asdict(values), replan())
    return values


def _find_fragments(context: Context, catalog: Catalog) -> tuple[int, ...]:
    """Return the numbers of the fragments of a catalog's sources."""
    stored = context.read(list_stored_fragments, catalog.extent.digest)
    return tuple(sorted(fragment.fragment.id for fragment in stored))


def _tally_table(catalog: Catalog, table: pa.Table, is_whole: bool) -> SeenValues:
    """Return rows and tallies of a table."""
    from provenn.look.tallying import tally_column  # noqa: PLC0415 - pyarrow takes a while to import

    first = [list_values(column) for column in table.slice(0, _SHOWN).columns]
    rows = [dict(zip(table.column_names, row, strict=True)) for row in zip(*first, strict=True)]
    return SeenValues(
        table.num_rows,
        is_whole,
        tuple(table.column_names),
        tuple(tuple(map(format_cell, row)) for row in zip(*first, strict=True)),
        tuple(
            tally_column(name, str(catalog.schema[name].type), column)
            for name, column in zip(table.column_names, table.columns, strict=True)
        ),
        curves=find_curves(catalog.schema, rows),
    )


def _list_types(catalog: Catalog) -> list[Type]:
    """Return the types of the attributes."""
    return [attribute.type for attribute in catalog.schema.attributes]


def _recall_values(context: Context, catalog: Catalog) -> SeenValues | None:
    """Return what was kept of an earlier look."""
    kept: Any = recall_tally(context, catalog, "overview")
    if kept is None or ("curves" not in kept and any(map(parse_array_type, _list_types(catalog)))):
        return None  # earlier versions read no arrays
    tallies = tuple(
        ValueTally(
            **{
                **tally,
                "bins": tuple(tally["bins"]),
                "commonest": tuple((value, number) for value, number in tally["commonest"]),
            }
        )
        for tally in kept["tallies"]
    )
    lists = {name: tuple(kept[name]) for name in ("columns", "left_out")}
    fragments = _find_fragments(context, catalog)  # the person who looked may see others than this viewer
    if lists["left_out"] and tuple(kept["fragments"]) != fragments:
        return None
    rows = tuple(map(tuple, kept["rows"]))
    curves = recall_curves(kept.get("curves", ()))
    return SeenValues(
        kept["rows_read"], kept["is_whole"], rows=rows, tallies=tallies, fragments=fragments, curves=curves, **lists
    )
