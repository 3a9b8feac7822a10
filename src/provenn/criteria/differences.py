"""The sources satisfying some criteria but not others, in words: the ring between ``vmag < 7`` and ``vmag < 6``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from provenn.criteria.conditions import build_is_true, join_by_and, negate_condition
from provenn.criteria.criterion import Criterion
from provenn.criteria.nodes import Condition, Junction
from provenn.criteria.writing import PEOPLE, write

__all__ = ["describe_difference"]

_NUMBER = r"-?\d+(?:\.\d+)?(?:E[+-]?\d+)?"
_RANGE = re.compile(
    rf"(?:(?<=^)|(?<=\()|(?<=AND )|(?<=OR ))(?P<name>\w+) (?P<low>>=?) (?P<least>{_NUMBER})"
    rf" AND (?P=name) (?P<high><=?) (?P<most>{_NUMBER})(?=$|\)| AND | OR )"
)
_MIRROR = {">": "<", ">=": "<="}


def describe_difference(wanted: Iterable[Criterion], unwanted: Iterable[Criterion]) -> str:
    """Return the criterion of the sources where all wanted criteria are TRUE, and not all unwanted criteria.

    Criteria both wanted and unwanted are compared by meaning, and only once: (a AND b) without (a AND c) is a AND b
    without c. "Without" is IS NOT TRUE, so sources with NULL for a criterion are not lost.

    Examples
    --------
    >>> from provenn.criteria import Attribute, parse_criterion, parse_type
    >>> number = parse_type("double")
    >>> schema = {"vmag": Attribute("hip.vmag", number), "plx": Attribute("hip.plx", number)}
    >>> wide, narrow, near = (parse_criterion(text, schema) for text in ("vmag < 7", "vmag < 6", "plx > 10"))
    >>> describe_difference([wide], [narrow]), describe_difference([near, wide], [narrow, near])
    ('6 <= vmag < 7', 'plx > 10 AND (6 <= vmag < 7)')
    >>> describe_difference([narrow], [near])
    '(plx <= 10 OR plx IS NULL) AND vmag < 6'
    """
    wanted_parts, unwanted_parts = _split_criteria(wanted), _split_criteria(unwanted)
    excluded = [part for part in unwanted_parts if part not in wanted_parts]
    rest = join_by_and([*wanted_parts, negate_condition(build_is_true(join_by_and(excluded)))])
    return _RANGE.sub(_write_range, write(rest, PEOPLE))


def _split_criteria(criteria: Iterable[Criterion]) -> Sequence[Condition]:
    """Return the conditions, all of them TRUE exactly where all criteria are TRUE."""
    parts: dict[Condition, None] = {}
    for criterion in criteria:
        match criterion.condition:
            case Junction("AND", conditions):
                parts |= dict.fromkeys(conditions)
            case condition:
                parts[condition] = None
    return list(parts)


def _write_range(match: re.Match[str]) -> str:
    """Return ``6 <= x < 7`` for ``x >= 6 AND x < 7``."""
    return f"{match['least']} {_MIRROR[match['low']]} {match['name']} {match['high']} {match['most']}"
