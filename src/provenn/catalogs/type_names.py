"""Types as people name them."""

from __future__ import annotations

import re

from provenn.criteria import Type, parse_type
from provenn.errors import TypeNameError, did_you_mean

__all__ = ["known_type", "type_named"]

_SCALARS = (
    *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal"),
    *("string", "boolean", "date", "timestamp", "timestamp_ntz"),
)
_OTHERS = re.compile(r"binary|variant|(array|map|struct)<.+>|time\(\d\)", re.IGNORECASE)


def known_type(text: str, *, scalar: bool = False) -> Type:
    """Read a type that Spark has.

    Parameters
    ----------
    text
        Its name in Spark.
    scalar
        Whether it must be one whose values can be compared.

    Raises
    ------
    TypeNameError
        If it is none.

    Examples
    --------
    >>> str(known_type("long")), str(known_type("array<Double>"))
    ('bigint', 'array<Double>')
    """
    if not isinstance(text, str):
        raise TypeNameError(f"a type is given by its name, not by {text!r}", hint=f"one of {', '.join(_SCALARS)}")
    kind = parse_type(text)
    if kind.name == "decimal" and not (0 < kind.precision <= 38 and kind.scale <= kind.precision):
        raise TypeNameError(f"{kind} is not a type", hint="a decimal has at most 38 digits")
    if kind.name in _SCALARS:
        return kind
    if _OTHERS.fullmatch(kind.name) and not scalar:
        return Type("".join(text.split()))
    hint = did_you_mean(kind.name, _SCALARS) or f"one of {', '.join(_SCALARS)}"
    raise TypeNameError(f"{text!r} is not a type that can be used here", hint=hint)


def type_named(name: str) -> Type:
    """Return the type that writes itself so; unlike `parse_type` it keeps the case of the fields of a struct.

    >>> type_named("decimal(10,2)").scale, type_named("struct<RA:double>").name
    (2, 'struct<RA:double>')
    """
    return Type(name) if "<" in name else parse_type(name)
