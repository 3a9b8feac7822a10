"""The meaning of sets across populations: the labels of extents, evaluated on the rows of random lineages.

What a label says is read from its text and from what it lifts, source by source, without the code that makes labels.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from random import Random

from provenn.catalogs import ExplodeArrays, Extent
from provenn.catalogs.images import Image, Ranking
from provenn.catalogs.population import Population
from tests.catalogs.reference_samples import Key, Table, Value
from tests.spark.oracle import spark_hash

__all__ = ["ReferenceWorld", "plain_value"]

_CRITERION = re.compile(r"`((?:[^`]|``)+)` (?:(<|<=|=|IN) (.+)|IS NOT NULL)", re.DOTALL)
_SAMPLE = re.compile(r"sample\((-?\d+), .*\) < ([\d.e-]+)", re.DOTALL)
_POINTS = "points "


def plain_value(value: object) -> object:
    """Return a value that equals itself, also if it is NaN."""
    if isinstance(value, tuple | list):
        return tuple(map(plain_value, value))
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


class ReferenceWorld:
    """Tables of several populations, and the sets that labels mean in them.

    Parameters
    ----------
    tables
        The catalogs and their rows.
    random
        Decides what no table tells, which must not matter.
    """

    def __init__(self, tables: Sequence[Table], random: Random) -> None:
        self._tables = tables
        self._random = random
        self.values: dict[tuple[str, str], dict[Key, Value]] = {}
        self._rows = {table.catalog.digest: table.rows for table in tables}
        self._images: dict[str, tuple[Image, Population]] = {}
        self._rankings: dict[str, tuple[Ranking, Table]] = {}
        self._elements: dict[str, ExplodeArrays] = {}
        self.keys: dict[str, set[Key]] = {}
        for table in tables:
            self._note(table)
        for table in tables:  # partners that no catalog holds are possible as well
            for other in tables:
                kinds = other.catalog.population.key
                self.keys[other.catalog.population.name].update(
                    (value,) for row in table.rows.values() for value in row.values() if len(kinds) == 1
                    and isinstance(value, int) and str(kinds[0]) == "bigint"
                )  # fmt: skip

    def _note(self, table: Table) -> None:
        catalog = table.catalog
        population = catalog.population.name
        self.keys.setdefault(population, set()).update(table.rows)
        for attribute in catalog.schema.attributes:
            known = self.values.setdefault((population, attribute.identity), {})
            for key, row in table.rows.items():
                value = known.setdefault(key, row[attribute.name])
                assert plain_value(value) == plain_value(row[attribute.name]), f"one identity, two values: {table}"
        image, ranking = catalog.find_image(), catalog.find_ranking()
        members = catalog.dependencies[-1].population if catalog.dependencies else catalog.population
        if image is not None:
            for part in (image, *image.parts):
                self._images[part.label] = part, members
        if ranking is not None:
            self._rankings[ranking.atom.label] = ranking, table
        if isinstance(catalog, ExplodeArrays):
            labels = (label for label in catalog.extent.labels if label.startswith("elements("))
            self._elements.update(dict.fromkeys(labels, catalog))

    def find_sources(self, population: str, extent: Extent) -> frozenset[Key]:
        """Return the sources of a population in an extent."""
        everything = frozenset(self.keys[population])
        return extent.evaluate(
            lambda label: frozenset(key for key in everything if self.contains(population, label, key)), everything
        )

    def contains(self, population: str, label: str, key: Key) -> bool:
        """Return whether a source is in the set with a label."""
        if label in self._rows:
            return key in self._rows[label]
        if label.startswith(f"{_POINTS}["):
            path, end = json.JSONDecoder().raw_decode(label, len(_POINTS))
            return self._follow(population, path, label[end:].removeprefix(" in (")[:-1], key)
        if label in self._images:
            image, members = self._images[label]
            partners = {
                tuple(self.read(members.name, identity, source) for identity in image.reference.identities)
                for source in self.find_sources(members.name, image.members)
            }
            return key in partners
        if label in self._rankings:
            return self._is_first(*self._rankings[label], key)
        if label in self._elements:
            return self._is_element(self._elements[label], key)
        sample = _SAMPLE.fullmatch(label)
        if sample is not None:
            types = self._find_types(population)
            hashed = spark_hash([("bigint", int(sample[1])), *zip(types, key, strict=True)])
            return hashed % 2**63 < float(sample[2]) * 2**63
        return self._fulfils(population, label, key)

    def _find_types(self, population: str) -> list[str]:
        table = next(table for table in self._tables if table.catalog.population.name == population)
        return [str(kind) for kind in table.catalog.population.key]

    def _follow(self, population: str, path: Sequence[object], target: str, key: Key) -> bool:
        identities, partners, *rest = path
        partner = tuple(self.read(population, identity, key) for identity in identities)
        if None in partner:
            return False
        return self._follow(partners, rest, target, partner) if rest else self.contains(partners, target, partner)

    def read(self, population: str, identity: str, key: Key) -> Value:
        """Return the value of an attribute of a source; any, if no table tells it."""
        if identity.startswith("key:"):
            name, _, position = identity.removeprefix("key:").rpartition(":")
            assert name == population, "a key of another population"
            return key[int(position)]
        if identity.startswith("via:"):
            return self._read_path(population, json.loads(identity.removeprefix("via:")), key)
        known = self.values.setdefault((population, identity), {})
        if key not in known:
            known[key] = self._random.choice([None, 0, 1, 3])
        return known[key]

    def _read_path(self, population: str, path: Sequence[object], key: Key) -> Value:
        if len(path) == 1:
            return self.read(population, str(path[0]), key)
        identities, partners, *rest = path
        partner = tuple(self.read(population, identity, key) for identity in identities)
        return None if None in partner else self._read_path(str(partners), rest, partner)

    def _fulfils(self, population: str, label: str, key: Key) -> bool:
        match = _CRITERION.fullmatch(label)
        assert match is not None, f"no label of these lineages: {label}"
        value = self.read(population, match[1].replace("``", "`"), key)
        if value is None or match[2] is None:
            return value is not None
        constants = [float(text.strip(" ()DL")) for text in match[3].split(",")]
        if match[2] in ("<", "<="):
            return value < constants[0] or (match[2] == "<=" and value == constants[0])
        return value in constants

    def _is_first(self, ranking: Ranking, table: Table, key: Key) -> bool:
        population = table.catalog.population.name
        members = self.find_sources(population, ranking.members)

        def group(source: Key) -> tuple[Value, ...]:
            return tuple(self.read(population, identity, source) for identity in ranking.by)

        if key not in members or None in group(key):
            return False
        (order,) = ranking.order
        identity, way = re.fullmatch(r"`((?:[^`]|``)+)` (.*)", order, re.DOTALL).groups()

        def place(source: Key) -> tuple[object, ...]:
            value = self.read(population, identity.replace("``", "`"), source)
            first, is_nan = "NULLS FIRST" in way, isinstance(value, float) and math.isnan(value)
            if value is None:
                return not first, (False, 0), source
            rank = (is_nan, 0) if is_nan else (False, value)
            return first, (not rank[0], -rank[1]) if "DESC" in way else rank, source

        rivals = sorted((source for source in members if group(source) == group(key)), key=place)
        return key in rivals[: ranking.number]

    def _is_element(self, catalog: ExplodeArrays, key: Key) -> bool:
        population = catalog.parent.population.name
        arrays = [self.values[population, identity].get(key[:-1]) for identity in catalog.arrays]
        return any(array is not None and key[-1] < len(array) for array in arrays)

    def all_labels(self) -> Iterable[str]:
        """Return the labels of all extents."""
        return {label for table in self._tables for label in table.catalog.extent.labels}
