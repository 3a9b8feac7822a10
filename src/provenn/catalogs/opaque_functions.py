"""The functions that opaque SQL may call: built-ins of Spark whose result the arguments alone determine.

The lists follow the built-in functions in Spark's documentation. Missing on purpose are functions that depend on the
clock, on the session, on files or on chance, that run other code (``java_method``, ``reflect``), that fail on purpose,
and that depend on the order of rows (``first``).
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "AGGREGATES",
    "COLLECTING",
    "FUNCTIONS",
    "ORDERED_WINDOWS",
    "SORTING",
    "TABLE_FUNCTIONS",
    "UNITS",
    "WINDOWS",
]

_SCALARS: Final = """
abs acos acosh asin asinh atan atan2 atanh bin bround cbrt ceil ceiling conv cos cosh cot csc degrees div e exp expm1
factorial floor greatest hypot least ln log log10 log1p log2 mod negative pi pmod positive pow power radians rint
round sec sign signum sin sinh sqrt tan tanh width_bucket try_add try_divide try_mod try_multiply try_subtract
bit_count bit_get getbit shiftleft shiftright shiftrightunsigned ascii base64 bit_length btrim char char_length
character_length chr concat concat_ws contains decode elt encode endswith find_in_set format_number format_string
initcap instr lcase left len length levenshtein locate lower lpad ltrim luhn_check mask octet_length overlay position
printf regexp regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like regexp_replace regexp_substr
repeat replace reverse right rlike rpad rtrim soundex space split split_part startswith substr substring
substring_index to_binary to_char to_number to_varchar translate trim try_to_binary try_to_number ucase unbase64 upper
hex unhex like ilike is_valid_utf8 make_valid_utf8 validate_utf8 try_validate_utf8 add_months convert_timezone
date_add date_diff date_format date_from_unix_date date_part date_sub date_trunc dateadd datediff datepart day dayname
dayofmonth dayofweek dayofyear extract from_unixtime from_utc_timestamp hour last_day make_date make_dt_interval
make_interval make_timestamp make_timestamp_ltz make_timestamp_ntz make_ym_interval minute month monthname
months_between next_day quarter second timestamp_micros timestamp_millis timestamp_seconds timestampadd timestampdiff
to_date to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp trunc try_make_interval
try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz try_to_timestamp unix_date unix_micros unix_millis
unix_seconds unix_timestamp weekday weekofyear year array array_append array_compact array_contains array_distinct
array_except array_insert array_intersect array_join array_max array_min array_position array_prepend array_remove
array_repeat array_size array_sort array_union arrays_overlap arrays_zip cardinality element_at exists filter flatten
forall get reduce aggregate sequence size slice sort_array transform try_element_at zip_with map map_concat
map_contains_key map_entries map_filter map_from_arrays map_from_entries map_keys map_values map_zip_with str_to_map
transform_keys transform_values named_struct struct from_csv from_json get_json_object json_array_length
json_object_keys schema_of_csv schema_of_json to_csv to_json coalesce if ifnull isnan isnotnull isnull nanvl nullif
nullifzero nvl nvl2 zeroifnull equal_null when crc32 hash md5 sha sha1 sha2 xxhash64 typeof bigint binary boolean date
decimal double float int smallint string timestamp tinyint
"""

_AGGREGATES: Final = """
approx_count_distinct avg bit_and bit_or bit_xor bool_and bool_or corr count count_if covar_pop covar_samp every
grouping grouping_id kurtosis max mean median min percentile percentile_cont percentile_disc regr_avgx regr_avgy
regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy skewness some any std stddev stddev_pop
stddev_samp sum try_avg try_sum var_pop var_samp variance
"""

AGGREGATES: Final = frozenset(_AGGREGATES.split())
"""The aggregates whose result does not depend on the order of the rows, but for the rounding of sums of floats."""

COLLECTING: Final = frozenset(["array_agg", "collect_list", "collect_set"])
"""The aggregates whose array has a definite order only inside one of `SORTING`."""

SORTING: Final = frozenset(["sort_array", "array_sort"])
"""The functions that sort an array by its elements alone."""

WINDOWS: Final = frozenset(["rank", "dense_rank", "percent_rank", "cume_dist"])
"""The window functions that treat equal rows alike."""

ORDERED_WINDOWS: Final = frozenset(["row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value"])
"""The window functions that need an order in which no two rows are equal."""

TABLE_FUNCTIONS: Final = frozenset(
    ["explode", "explode_outer", "inline", "inline_outer", "posexplode", "posexplode_outer", "range"]
)
"""The functions that make rows."""

UNITS: Final = frozenset(["dateadd", "date_add", "datediff", "date_diff", "timestampadd", "timestampdiff"])
"""The functions whose first of three arguments is a unit of time, written as a word."""

FUNCTIONS: Final = (
    frozenset(_SCALARS.split()) | AGGREGATES | COLLECTING | WINDOWS | ORDERED_WINDOWS | (TABLE_FUNCTIONS - {"range"})
)
"""The functions that an expression may call, in lower case."""
