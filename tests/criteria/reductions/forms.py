"""Random criteria of the forms that reductions and facts about values understand, and rows that decide them."""

from hypothesis import strategies as st

from tests.criteria.oracle import OPERATORS, quoted

COLUMNS = {
    "numbers": {"t": "tinyint", "n": "int", "b": "bigint"},
    "doubles": {"x": "double", "y": "double"},
    "days": {"d": "date", "e": "date"},
    "times": {"m": "timestamp"},
    "texts": {"s": "string", "u": "string"},
}
"""The columns of each world."""

_LONGEST = {"t": 7, "n": 31, "b": 63}
_DAY = 86_400_000_000


def _pick(*values):
    return st.sampled_from(values)


def _join(template: str, *parts):
    """Texts of a template whose fields are drawn."""
    return st.tuples(*parts).map(lambda chosen: template.format(*chosen))


def _choices(term, constant):
    """Choices between terms of a type."""
    test = _join("{} {} {}", term, _pick(*OPERATORS), st.one_of(term, constant))
    return st.one_of(
        _join("coalesce({}, {})", term, st.one_of(term, constant)),
        _join("nullif({}, {})", term, st.one_of(term, constant)),
        _join("if({}, {}, {})", test, term, st.one_of(term, constant)),
        _join("CASE WHEN {} THEN {} WHEN {} THEN {} END", test, term, test, st.one_of(term, constant)),
        _join("nvl2({}, {}, {})", term, term, constant),
        _join("greatest({}, {})", term, st.one_of(term, constant)),
        _join("least({}, {}, {})", term, term, st.one_of(term, constant)),
    )


def _conditions(term, constant):
    """Conditions on terms of a type, and combinations of two."""
    single = st.one_of(
        _join("{} {} {}", term, _pick(*OPERATORS), constant),
        _join("{} BETWEEN {} AND {}", term, constant, constant),
        _join("{} IN ({}, {}, {})", term, constant, constant, constant),
        _join("{} IS NULL", term),
        _join("{} {} {}", term, _pick(*OPERATORS), term),
    )
    return st.one_of(single, _join("{} AND {}", single, single), _join("NOT ({} OR {})", single, single))


def _numbers():
    column = _pick("t", "n", "b")
    small = st.integers(-9, 20).map(str)
    mask = _pick("1", "4", "12", "6", "-8", "255", "64", "128", "-128", "1024")
    plain = st.one_of(
        column,
        _join("({} % {})", column, _pick("2", "3", "5", "10", "-10", "12", "0", "1", "1000", "2147483647")),
        _join("pmod({}, {})", column, _pick("2", "4", "5", "10", "-10", "0", "7")),
        _join("({} & {})", column, mask),
        _join("(({} & {}) | {})", column, mask, _pick("1", "-4", "8")),
        _join("(({} & {}) ^ {})", column, mask, _pick("1", "-4", "12")),
        _join("~{}", column),
    )
    extreme = _pick("127", "-128", "2147483647", "-2147483648", "9223372036854775807", "-9223372036854775808")
    constant = st.one_of(small, small, extreme)
    return _conditions(st.one_of(plain, plain, _choices(plain, small)), constant)


def _doubles():
    column = _pick("x", "y")
    constant = _pick(
        "0", "1.5", "-2.5", "20", "99", "-0.0D", "1e300D", "CAST('NaN' AS DOUBLE)", "CAST('inf' AS DOUBLE)"
    )
    choice = _choices(column, constant)
    moved = st.one_of(_join("({} + {})", choice, column), _join("{} * 2", choice), _join("(1 / {})", choice))
    return _conditions(st.one_of(column, choice, choice, moved), constant)


DATES = ("0001-01-01", "1969-12-31", "1970-01-01", "2000-02-29", "2014-01-01", "2014-03-15", "2014-12-31", "2016-02-29")


def _day_functions(column):
    function = _pick("year", "month", "quarter", "day", "dayofweek", "weekday", "dayofyear", "weekofyear")
    return st.one_of(_join("{}({})", function, column), _join("EXTRACT({} FROM {})", _pick("YEAR", "MONTH"), column))


def _days():
    column = _pick("d", "e")
    constant = st.sampled_from(DATES).map(quoted)
    dates = st.one_of(
        column,
        _join("trunc({}, {})", column, _pick("'year'", "'MONTH'", "'Quarter'", "'week'", "'no'")),
        _join("last_day({})", column),
        _join("date_add({}, {})", column, _pick("1", "-31", "2147483647")),
        _join("date_sub({}, 7)", column),
        _choices(column, constant),
    )
    numbers = st.one_of(_day_functions(column), _join("datediff({}, DATE '2014-01-01')", column))
    small = st.one_of(st.integers(-1, 13).map(str), _pick("31", "53", "365", "2014", "1970", "-5877641", "5881580"))
    return st.one_of(_conditions(dates, constant), _conditions(numbers, small), _conditions(numbers, small))


def _times():
    constant = st.tuples(st.sampled_from(DATES), _pick("", " 12:30:00", " 23:59:59.999999")).map("".join).map(quoted)
    unit = _pick("year", "QUARTER", "month", "week", "day", "hour", "minute", "second", "millisecond", "no")
    moments = st.one_of(_pick("m"), unit.map(lambda name: f"date_trunc('{name}', m)"))
    numbers = st.one_of(_day_functions(_pick("m")), _pick("hour(m)", "minute(m)", "second(m)", "unix_seconds(m)"))
    small = st.one_of(st.integers(-1, 24).map(str), _pick("31", "59", "2014", "1970"))
    return st.one_of(
        _conditions(moments, constant),
        _conditions(_pick("to_date(m)"), st.sampled_from(DATES).map(quoted)),
        _conditions(numbers, small),
    )


WORDS = (
    *("", " ", "S", "ST", "STAR", "star", "Star ", " STAR", "SU", "STA", "TAR", "xSTAR", "STARx", "STSTAR", "A", "a"),
    *(
        "S%",
        "S_T",
        "%",
        "\\",
        "it's",
        "é",
        "éa",
        "É",
        "ß",
        "😀",
        "😀S",
        "\U0010ffff",
        "\U0010ffffS",
        "\ud7ff",
        "\ue000",
    ),
    *("\x7f", "S\x7f", "\x80", "Sÿ", "SĀ", "\0", "S\0", "ST\n", "\ufffd", "aSa", "RATS"),
)


def _texts():
    column = _pick("s", "u")
    constant = st.sampled_from(WORDS).map(quoted)
    part = _pick("S", "ST", "T", "TAR", "AR", "STAR", "", "é", "😀", "a", "\x7f").map(quoted)
    pattern = _pick("ST%", "%AR", "%TA%", "STAR", "S%R", "%", "", "_T%", "S\\%", "S\\_T%", "%%S", "é%", "S__R", "%S%T%")
    functions = st.one_of(
        column,
        _join("{}({})", _pick("upper", "lower", "trim", "ltrim", "rtrim", "reverse"), column),
        _join("left({}, {})", column, _pick("0", "1", "2", "3", "-1")),
        _join("substring({}, {}, {})", column, _pick("0", "1", "2"), _pick("1", "2", "5")),
        _choices(column, constant),
    )
    tests = st.one_of(
        _join("{} LIKE {}", column, pattern.map(quoted)),
        _join("{} ILIKE {}", column, pattern.map(quoted)),
        _join("NOT {}({}, {})", _pick("startswith", "endswith", "contains"), column, part),
        _join("{}({}, {})", _pick("startswith", "endswith", "contains"), st.one_of(column, _pick("upper(s)")), part),
        _join("coalesce({}, {}) LIKE {}", column, constant, pattern.map(quoted)),
    )
    numbers = st.one_of(_join("length({})", column), _join("instr({}, {})", column, part))
    small = st.integers(-1, 5).map(str)
    return st.one_of(_conditions(functions, constant), tests, tests, _conditions(numbers, small))


CRITERIA = {
    "numbers": _numbers(),
    "doubles": _doubles(),
    "days": _days(),
    "times": _times(),
    "texts": _texts(),
}
"""Random criteria of each world."""


def list_values(kind: str) -> list[str]:
    """Return values of a type in SQL; NULL and the extremes are among them."""
    match kind:
        case "tinyint" | "int" | "bigint":
            half = 1 << {"tinyint": 7, "int": 31, "bigint": 63}[kind]
            near = [*range(-21, 22), 99, 100, -100, 127, -128, half - 1, half - 2, -half, 1 - half]
            values = [f"'{number}'" for number in near]
        case "double":
            values = [
                "'NaN'",
                "'-Infinity'",
                "'Infinity'",
                "0.0D",
                "-0.0D",
                "5e-324D",
                "1.5D",
                "-2.5D",
                "20D",
                "1e300D",
            ]
            values += ["19.999999999999996D", "99D", "10D", "3D"]
        case "date":
            days = [
                -(2**31),
                -(2**31) + 400,
                -719_529,
                -719_162,
                -1,
                0,
                31,
                58,
                59,
                16_070,
                16_071,
                16_144,
                16_435,
                16_436,
            ]
            days += [11_016, 11_017, 16_860, 2_932_896, 2_932_897, 2**31 - 1, 2**31 - 30, *range(16_050, 16_450, 23)]
            values = [f"date_from_unix_date({day})" for day in days]
        case "timestamp":
            days = [-719_162, -1, 0, 11_016, 16_070, 16_071, 16_144, 16_435, 16_860, 2_932_896]
            keys = [day * _DAY + offset for day in days for offset in (-1, 0, 1, 12 * _DAY // 24, 45_000_000_000)]
            keys += [2**63 - 1, -(2**63) + 1001 * _DAY, *(16_071 * _DAY + hour * 3_600_000_000 for hour in range(24))]
            values = [f"timestamp_micros({key}L)" for key in keys]
        case _:
            values = [quoted(word) for word in WORDS]
            values += [
                f"CAST(X'{data}' AS STRING)" for data in ("5354FF", "53FF", "7F80", "F0535441", "C354", "EDA080")
            ]
    return ["NULL", *values]
