"""The keys of a bag's rows, in plain Python: what `provenn.spark.row_digests` promises, written a second time."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

__all__ = ["number_rows"]

Row = tuple[object, ...]


def number_rows(rows: Sequence[Row], names: Sequence[str], kinds: Sequence[str]) -> list[tuple[tuple[str, int], Row]]:
    """Return rows with their keys: the digest of the content, and the number of the copy among equal rows."""
    header = json.dumps([list(pair) for pair in zip(names, kinds, strict=True)])
    copies: dict[str, list[tuple[bytes, Row]]] = {}
    for row in rows:
        texts = [b"".join(_encode(value, is_exact=is_exact) for value in row) for is_exact in (False, True)]
        digest = hashlib.sha256(header.encode() + texts[0]).hexdigest()
        copies.setdefault(digest, []).append((texts[1], row))
    return [
        ((digest, number), row)
        for digest, equal in copies.items()
        for number, (_, row) in enumerate(sorted(equal, key=lambda pair: pair[0]), 1)
    ]


def _encode(value: object, *, is_exact: bool) -> bytes:
    """Return the text of a value; a dict is a map, a list an array, a tuple a struct."""
    if value is None:
        return b"N"
    if isinstance(value, Mapping):
        items = [b"".join(_encode(part, is_exact=is_exact) for part in pair) for pair in value.items()]
        return _encode_list(items if is_exact else sorted(items))
    if isinstance(value, list):
        return _encode_list([_encode(item, is_exact=is_exact) for item in value])
    if isinstance(value, tuple):
        return b"S" + b"".join(_encode(item, is_exact=is_exact) for item in value)
    text = _write(value, is_exact=is_exact).encode()
    return str(len(text)).encode() + b":" + text


def _encode_list(items: Sequence[bytes]) -> bytes:
    return b"A" + str(len(items)).encode() + b":" + b"".join(items)


def _write(value: object, *, is_exact: bool) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return "0" if value == 0 and not is_exact else _write_hexadecimal(value)
        case bytes() | bytearray():
            return bytes(value).hex().upper()
        case datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            passed = moment - datetime(1970, 1, 1, tzinfo=UTC)
            return str((passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds)
        case date():
            return str((value - date(1970, 1, 1)).days)
        case int() | str() | Decimal():
            return str(value)
    raise NotImplementedError(type(value))


def _write_hexadecimal(value: float) -> str:
    """Return a number as Java's Double.toHexString does.

    >>> _write_hexadecimal(1.5), _write_hexadecimal(-0.0), _write_hexadecimal(0.1)
    ('0x1.8p0', '-0x0.0p0', '0x1.999999999999ap-4')
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    digits, _, exponent = value.hex().partition("p")
    whole, _, fraction = digits.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}p{int(exponent)}"
