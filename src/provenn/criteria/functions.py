"""The Spark functions callable in criteria and expressions: deterministic, row-wise and total.

The table holds only the types of each function and when its result is NULL. Every row was checked against Spark,
including extreme values: the types and NULLs are right, and the function never fails.
"""

from __future__ import annotations

from dataclasses import dataclass

from provenn.criteria.nodes import Nulls
from provenn.criteria.types import Type, parse_type
from provenn.hints import Hint

__all__ = ["FUNCTIONS", "Function", "explain_refusal", "resolve_alias"]


@dataclass(frozen=True, slots=True)
class Function:
    """A function with fixed types.

    Parameters
    ----------
    name
        The name of the function in Spark.
    arguments
        The kind of each argument: a type, ``any``, ``text`` (a constant string) or ``whole`` (a small constant
        integer).
    least
        The minimum number of arguments.
    repeats
        Whether the last argument may be repeated.
    result
        The type of the result.
    nulls
        When the result is NULL.
    """

    name: str
    arguments: tuple[str, ...]
    least: int
    repeats: bool
    result: Type
    nulls: Nulls


# Names, arguments (? may be left out, * may be repeated), result; and when the result is NULL.
_ANY = """
sqrt cbrt exp expm1 rint sin cos tan cot sec csc asin acos atan : double : double
sinh cosh tanh asinh acosh atanh degrees radians signum         : double : double
pow atan2 hypot                                                 : double double : double
length bit_length octet_length ascii                            : string : int
lower upper initcap reverse trim ltrim rtrim soundex md5 sha1   : string : string
crc32                                                           : string : bigint
substring                                                       : string int int? : string
left right                                                      : string int : string
lpad rpad                                                       : string whole string? : string
concat                                                          : string* : string
replace translate                                               : string string string : string
substring_index                                                 : string string int : string
instr locate levenshtein                                        : string string : int
startswith endswith contains                                    : string string : boolean
year quarter month day dayofweek weekday dayofyear weekofyear   : date : int
last_day                                                        : date : date
date_add date_sub                                               : date int : date
datediff                                                        : date date : int
unix_date                                                       : date : int
date_from_unix_date                                             : int : date
hour minute second                                              : timestamp : int
unix_seconds unix_millis unix_micros                            : timestamp : bigint
timestamp_micros                                                : bigint : timestamp
"""
_ANY_OR_FAILED = """
ln log10 log2 log1p : double : double
log                 : double double : double
factorial           : int : bigint
sha2                : string whole : string
make_date           : int int int : date
trunc               : date text : date
date_trunc          : text timestamp : timestamp
"""
_NEVER = """
pi e          :       : double
hash          : any*  : int
xxhash64      : any*  : bigint
"""
_UNKNOWN = """
nanvl         : double double : double
concat_ws     : string string* : string
"""

_ALIASES = {
    "array_size": "size",
    "cardinality": "size",
    "ceiling": "ceil",
    "char_length": "length",
    "character_length": "length",
    "charindex": "locate",
    "date_diff": "datediff",
    "dayofmonth": "day",
    "ifnull": "coalesce",
    "lcase": "lower",
    "len": "length",
    "nvl": "coalesce",
    "position": "locate",
    "power": "pow",
    "sha": "sha1",
    "sign": "signum",
    "substr": "substring",
    "regexp": "rlike",
    "regexp_like": "rlike",
    "ucase": "upper",
}


def _parse_tables() -> dict[str, Function]:
    """Return the functions of the tables above, by name."""
    functions = {}
    for nulls, rows in (
        (Nulls.ANY, _ANY),
        (Nulls.ANY_OR_FAILED, _ANY_OR_FAILED),
        (Nulls.NEVER, _NEVER),
        (Nulls.UNKNOWN, _UNKNOWN),
    ):
        for row in rows.strip().splitlines():
            names, arguments, result = (part.split() for part in row.split(":"))
            kinds = tuple(argument.rstrip("?*") for argument in arguments)
            least = sum(not argument.endswith("?") for argument in arguments)
            repeats = bool(arguments) and arguments[-1].endswith("*")
            for name in names:
                functions[name] = Function(name, kinds, least, repeats, parse_type(result[0]), nulls)
    return functions


FUNCTIONS = _parse_tables()

_REFUSED = {
    "is not deterministic": (
        Hint(
            "to select a part of the sources, use sample(); otherwise store the values as an attribute",
            command="to select a part of the sources, use `provenn sample`; otherwise store the values as an attribute",
        ),
        "rand random randn randstr uniform uuid shuffle",
    ),
    "depends on the clock": (
        "write the moment as a constant: DATE '2026-01-31'",
        """current_date curdate current_timestamp current_time now localtimestamp current_timezone
        unix_timestamp to_unix_timestamp""",
    ),
    "depends on how the data are stored or who runs the query": (
        "use attributes of the sources",
        """current_user user session_user current_catalog current_database current_schema version input_file_name
        input_file_block_start input_file_block_length spark_partition_id monotonically_increasing_id""",
    ),
    "runs its own code": (
        "register a calculator for it",
        "java_method reflect try_reflect transform aggregate ai_query",
    ),
    "fails on purpose": ("a criterion is TRUE, FALSE or NULL for every source", "raise_error assert_true"),
    "reads more than one source": (
        Hint(
            "group() first, and select from the groups; or use a calculator with the scope catalog",
            command="`provenn group` first, and select from the groups; or use a calculator with the scope catalog",
        ),
        """any any_value some every bool_and bool_or approx_count_distinct approx_percentile array_agg avg bit_and
        bit_or bit_xor collect_list collect_set corr count count_if count_min_sketch covar_pop covar_samp first
        first_value grouping grouping_id histogram_numeric kurtosis last last_value listagg string_agg max max_by mean
        median min min_by mode percentile percentile_approx percentile_cont regr_slope skewness std stddev
        stddev_pop stddev_samp sum try_avg try_sum var_pop var_samp variance row_number rank dense_rank percent_rank
        cume_dist ntile lag lead nth_value""",
    ),
    "turns one row into several": (
        Hint(
            "a source is one row: explode() makes a catalog of the elements of an array",
            command="a source is one row: `provenn explode` makes a catalog of the elements of an array",
        ),
        "explode explode_outer posexplode posexplode_outer inline inline_outer stack json_tuple",
    ),
}
_REASONS = {name: (f"{name}() {reason}", hint) for reason, (hint, names) in _REFUSED.items() for name in names.split()}


def resolve_alias(name: str) -> str:
    """Return the canonical name of a function in lower case."""
    return _ALIASES.get(name.lower(), name.lower())


def explain_refusal(name: str) -> tuple[str, str] | None:
    """Return why a function can never be called, and a hint; None for a merely unknown function."""
    return _REASONS.get(name.lower())
