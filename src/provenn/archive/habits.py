"""What people call on a catalog from habit: methods of Spark, pandas and LSDB, and attributes as in a table."""

from collections.abc import Iterable
from typing import Final

from provenn.errors import did_you_mean

__all__ = ["explain_missing_item", "explain_missing_member"]

_HABITS: Final = {
    "filter": 'select("plx > 10")',
    "where": 'select("plx > 10")',
    "query": 'select("plx > 10")',
    "cone_search": "select(provenn.sky.cone(ra, dec, radius))",
    "join": "combine(other)",
    "merge": "combine(other)",
    "union": "concat(other)",
    "unionAll": "concat(other)",
    "drop": "keep(…), with the attributes that stay",
    "withColumn": 'derive(dist_pc="1000 / plx")',
    "withColumns": 'derive(dist_pc="1000 / plx")',
    "assign": 'derive(dist_pc="1000 / plx")',
    "withColumnRenamed": 'rename({"vmag": "v"})',
    "groupBy": 'group("objid", n="count(*)")',
    "groupby": 'group("objid", n="count(*)")',
    "show": "head()",
    "collect": "to_arrow()",
    "compute": "to_pandas()",
    "toPandas": "to_pandas()",
    "columns": "attributes",
    "shape": "count() and attributes",
    "to_parquet": 'write("out.parquet")',
    "to_csv": 'write("out.csv")',
    "save": 'write("out.parquet")',
    "explain": "plan()",
}
"""The member of a catalog that does what a member of other libraries does."""


def explain_missing_member(name: str, members: Iterable[str], attributes: Iterable[str]) -> str:
    """Return what to write instead of a member that a catalog does not have.

    >>> explain_missing_member("filter", [], [])
    'a catalog has no filter; use select("plx > 10")'
    >>> explain_missing_member("plx", [], ["hip", "plx"])
    'a catalog has no member plx; the values of this attribute are keep("plx").to_pandas()["plx"]'
    """
    if name in _HABITS:
        return f"a catalog has no {name}; use {_HABITS[name]}"
    known = [*attributes]
    if name in known:
        return f'a catalog has no member {name}; the values of this attribute are keep("{name}").to_pandas()["{name}"]'
    near = did_you_mean(name, [member for member in members if not member.startswith("_")] + known)
    return f"a catalog has no member {name}" + (f"; {near}" if near else "")


def explain_missing_item(item: object, attributes: Iterable[str]) -> str:
    """Return what to write instead of an index of a catalog, as in ``stars["plx"]``.

    >>> explain_missing_item("plx", ["hip", "plx"])
    'the values of this attribute are keep("plx").to_pandas()["plx"]'
    >>> explain_missing_item(["hip", "plx"], ["hip", "plx"])
    'keep("hip", "plx") has these attributes'
    >>> explain_missing_item("px", ["hip", "plx"])
    'did you mean plx? the values of an attribute are keep("plx").to_pandas()["plx"]'
    >>> explain_missing_item(3, ["hip", "plx"])
    'write select("plx > 10") for some sources, keep("plx") for some attributes, head(10) for a few rows'
    """
    known = list(attributes)
    if isinstance(item, str):
        if item in known:
            return f'the values of this attribute are keep("{item}").to_pandas()["{item}"]'
        near = did_you_mean(item, known) or f"the attributes are {', '.join(known[:20])};"
        return f'{near} the values of an attribute are keep("{known[-1]}").to_pandas()["{known[-1]}"]'
    if isinstance(item, list | tuple) and item and all(name in known for name in item):
        quoted = ", ".join(f'"{name}"' for name in item)
        return f"keep({quoted}) has these attributes"
    return 'write select("plx > 10") for some sources, keep("plx") for some attributes, head(10) for a few rows'
