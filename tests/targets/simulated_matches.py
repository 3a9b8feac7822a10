"""Cross-matches carried out with Python's dicts, for `tests.targets.simulated`; positions are vmag and plx."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import asin, cos, degrees, radians, sin, sqrt
from random import Random

from provenn.catalogs import Catalog, CrossMatch, MatchedSources
from provenn.catalogs.catalog import Pairing
from provenn.catalogs.match_rule import MatchRule
from provenn.errors import DefinitionError
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.match_steps import Match, Matched, list_side_columns
from tests.catalogs.samples import Table, Value

__all__ = [
    "continue_rows",
    "find_match_sets",
    "join_tables",
    "match_rows",
    "match_tables",
    "matched_rows",
    "matched_table",
]

Position = tuple[Value, ...]
Key = int | tuple[int, ...]
ByIdentity = dict[Key, dict[str, Value]]

ON = ("vmag", "plx")


def _measure(one: Position, other: Position) -> float | None:
    """The separation of two positions in arcseconds; None if one is unknown."""
    if None in (*one, *other):
        return None
    (ra, dec), (lon, lat) = ([radians(value) for value in position] for position in (one, other))
    half = sin((dec - lat) / 2) ** 2 + cos(dec) * cos(lat) * sin((ra - lon) / 2) ** 2
    return degrees(2 * asin(min(1.0, sqrt(half)))) * 3600


def _pair(left: Mapping[int, Position], right: Mapping[int, Position], rule: MatchRule) -> dict[tuple[int, int], float]:
    """The separations of pairs by both keys."""
    apart = {
        (one, other): _measure(position, place) for one, position in left.items() for other, place in right.items()
    }
    return _keep(
        {pair: value for pair, value in apart.items() if value is not None and rule.min_radius <= value <= rule.radius},
        rule,
    )


def _keep(candidates: Mapping[tuple[int, int], float], rule: MatchRule) -> dict[tuple[int, int], float]:
    """The candidates that a rule keeps."""
    if rule.matches == "all":
        return dict(candidates)
    ranks: list[dict[tuple[int, int], int]] = [{}, {}]
    for side, rank in enumerate(ranks):
        seen: Counter[int] = Counter()
        for pair in sorted(candidates, key=lambda pair: (candidates[pair], pair[1 - side])):
            rank[pair] = seen[pair[side]]
            seen[pair[side]] += 1
    most = rule.matches if isinstance(rule.matches, int) else 1
    return {
        pair: value
        for pair, value in candidates.items()
        if ranks[0][pair] < most and (rule.matches != "mutual" or ranks[1][pair] == 0)
    }


def match_tables(rng: Random, one: Table, other: Table) -> Table:
    """A cross-match of two tables, of any kind."""
    if "&" in other.catalog.population.name:
        raise DefinitionError("pairs are not matched again here")
    radius, matches = rng.choice([1800, 5400]), rng.choice(["best", "best", "all", "mutual", 2])
    return join_tables(CrossMatch.of(one.catalog, other.catalog, radius, matches=matches, on=ON), one, other)


def join_tables(made: CrossMatch, one: Table, other: Table) -> Table:
    """The rows of a cross-match of two tables."""
    sides = [{key: tuple(row[name] for name in ON) for key, row in table.rows.items()} for table in (one, other)]
    rows = {}
    for pair, separation in _pair(*sides, made.rule).items():
        row = {}
        for side, table, key in zip(("left", "right"), (one, other), pair, strict=True):
            row |= {lifted.name: table.rows[key][own.name] for lifted, own in made.attributes_of(side)}
        rows[pair] = row | {made.separation.name: separation}
    return Table(made, rows)


def matched_table(rng: Random, pairs: Table, tables: Iterable[Table]) -> Table:
    """The sources on one side of pairs."""
    side = rng.choice(["left", "right"])
    made = MatchedSources.of(pairs.catalog, side)
    parent = next((table for table in tables if table.catalog == made.parent), None)
    if parent is None:
        raise DefinitionError("the side is no table")
    keys = {pair[side == "right"] for pair in pairs.rows}
    return Table(made, {key: row for key, row in parent.rows.items() if key in keys})


def match_rows(step: Match, inputs: Sequence[ByIdentity], needed: frozenset[str]) -> ByIdentity:
    """The rows of a step that matches."""
    return _match(step.catalog, inputs, needed)


def _match(match: Pairing, inputs: Sequence[ByIdentity], needed: frozenset[str]) -> ByIdentity:
    coordinates = [identity for identity, _ in match.coordinates]
    sides = [
        {key: tuple(row[identity] for identity in own) for key, row in rows.items()}
        for rows, own in zip(inputs, (coordinates[:2], coordinates[2:]), strict=True)
    ]
    columns = list_side_columns(match, needed)
    found = {}
    for pair, separation in _pair(*sides, match.rule).items():
        row: dict[str, Value] = {match.separation.identity: separation}
        for rows, names, key in zip(inputs, columns, pair, strict=True):
            row |= {lifted: rows[key][own] for lifted, own in names.items()}
        found[pair] = row
    return found


def continue_rows(step: ContinuedMatch, inputs: Sequence[ByIdentity], needed: frozenset[str]) -> ByIdentity:
    """The rows of a step that continues a match, by its law in the words of sets: no new pair is left out."""
    stored, *frames = inputs
    rows = dict(zip(step.sides, frames, strict=True))
    match = step.catalog
    left, right = rows.get("kept_left"), rows.get("kept_right")
    names = {name: step.columns.get(name, name) for name in step.attributes}
    found = {
        pair: {name: row[old] for name, old in names.items() if old in row}
        for pair, row in stored.items()
        if (left is None or pair[0] in left) and (right is None or pair[1] in right)
    }
    rounds = [("left", "new_right")] * ("new_right" in rows) + [("new_left", "right")] * ("new_left" in rows)
    sides = [(rows[left], rows[right]) for left, right in rounds]
    if step.may_lose_partner:
        lost = {pair[0] for pair in stored if pair[1] not in rows["kept_right"]}
        sides.append(({key: row for key, row in rows["left"].items() if key in lost}, rows["right"]))
    for left, right in sides:
        found |= _match(match, (left, right), needed)
    kept = _keep({pair: row[match.separation.identity] for pair, row in found.items()}, match.rule)
    return {pair: found[pair] for pair in kept}


def matched_rows(step: Matched, inputs: Sequence[ByIdentity]) -> ByIdentity:
    """The rows of a step that keeps sources in pairs."""
    rows, pairs = inputs
    (identity,) = step.key
    keys = {row[identity] for row in pairs.values()}
    return {key: row for key, row in rows.items() if key in keys}


def find_match_sets(
    catalogs: Iterable[Catalog], rows: Mapping[str, ByIdentity], values: Mapping[str, Mapping[Key, Value]]
) -> dict[str, set[Key]]:
    """What the labels of matches mean, by the rows of catalogs (by digest, then key and identity)."""
    sets: dict[str, set[Key]] = {}
    for one in catalogs:
        if isinstance(one, CrossMatch):
            coordinates = [identity for identity, _ in one.coordinates]
            sides = [
                {key: tuple(row[identity] for identity in own) for key, row in rows[side.digest].items()}
                for side, own in ((one.left, coordinates[:2]), (one.right, coordinates[2:]))
            ]
            every, *kept = one.facts_of(one.digest, (), one.parameters())[1]
            sets[every.label] = set(_pair(*sides, replace(one.rule, matches="all")))
            sets |= {atom.label: set(_pair(*sides, one.rule)) for atom in kept}
        elif isinstance(one, MatchedSources):
            deciding, *_ = atoms = one.facts_of(one.digest, [one.parent.digest, one.pairs.digest], one.parameters())[1]
            if deciding.label.startswith("paired("):
                sets[deciding.label] = {pair[one.side == "right"] for pair in rows[one.pairs.digest]}
            coordinates = [identity for identity, _ in one.match.coordinates]
            own, others = (
                (coordinates[:2], coordinates[2:]) if one.side == "left" else (coordinates[2:], coordinates[:2])
            )
            other = one.match.right if one.side == "left" else one.match.left
            places = [tuple(row[identity] for identity in others) for row in rows[other.digest].values()]
            known = {key: tuple(values[identity].get(key) for identity in own) for key in values[own[0]]}
            for atom in (atom for atom in atoms if atom.label.startswith("near(")):
                smallest = one.match.rule.min_radius if ", from " in atom.label else 0
                sets[atom.label] = {
                    key
                    for key, position in known.items()
                    if any(
                        (apart := _measure(position, place)) is not None and smallest <= apart <= one.match.radius
                        for place in places
                    )
                }
    return sets
