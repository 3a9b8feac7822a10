"""Plans carried out with Python's dicts: no Spark, so that thousands of random histories can be tried.

Nothing here uses the code under test but the steps themselves. Each step that is carried out must give exactly the
sources of the extent that it claims to have, and is handed only the attributes that were asked of it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from provenn.catalogs import (
    Attribute,
    Catalog,
    CombineAttributes,
    ConcatSources,
    DeriveAttributes,
    ExcludeSources,
    Extent,
    KeepAttributes,
    PythonCalculator,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    SqlCalculator,
    cone,
)
from provenn.catalogs.restoring import facts_of
from provenn.criteria import Atom, parse_criterion
from provenn.errors import ProvennError
from provenn.logic import Statement
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.execution import find_key
from provenn.targets.match_steps import Match, Matched
from provenn.targets.steps import (
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    Fill,
    FragmentScan,
    Nothing,
    PlanStep,
    Restrict,
    Scan,
    Select,
    is_key,
)
from tests.catalogs.samples import Rows, Table, Value, base, hash_of, holds, values_by_identity
from tests.targets import calls
from tests.targets.simulated_matches import continue_rows, find_match_sets, match_rows, matched_rows

__all__ = [
    "ALONE",
    "Sky",
    "by_identity",
    "calculate_table",
    "compare_tables",
    "concatenate_tables",
    "derive_table",
    "random_days",
    "random_number",
    "random_sets",
    "random_sky",
    "sample_table",
    "select_table",
]

ByIdentity = dict[int, dict[str, Value]]


@dataclass
class Sky:
    """Catalogs with the rows that they mean, and a way to carry out plans on them.

    Parameters
    ----------
    tables
        The catalogs and their rows, each after those that it is made from.
    contents
        The rows of fragments, by number.
    called
        What calculators were called for: the values that were needed of each call, and the key.
    sets
        The sources of further labels: files of base catalogs.
    facts
        What was observed of the catalogs.
    """

    tables: list[Table]
    contents: dict[int, ByIdentity] = field(default_factory=dict)
    called: Counter[tuple[frozenset[float], int]] = field(default_factory=Counter)
    sets: dict[str, Iterable[int]] = field(default_factory=dict)
    facts: tuple[Statement, ...] = ()

    def __post_init__(self) -> None:
        self.values = defaultdict(dict, values_by_identity(self.tables))  # a member without sources has no values
        self.attributes = {
            attribute.identity: attribute for table in self.tables for attribute in table.catalog.schema.attributes
        }
        self.catalogs = {catalog.digest: catalog for catalog in cone(*(table.catalog for table in self.tables))}
        self.rows = {table.catalog.digest: table.rows for table in self.tables}
        self.keys = {key for table in self.tables for key in table.rows}
        self.atoms: dict[str, Atom] = {}
        for catalog in cone(*(table.catalog for table in self.tables)):
            digests = [dependency.digest for dependency in catalog.dependencies]
            self.note_definitions(facts_of(catalog.kind, catalog.digest, digests, catalog.parameters())[1])
            if isinstance(catalog, SelectSources):
                self.note_definitions(catalog.criterion.atoms)
        for identity, attribute in list(self.attributes.items()):
            for key, value in list(self.values[identity].items()):
                for piece in self._pieces(attribute, key):
                    self.attributes.setdefault(piece.identity, piece)
                    known = self.values.setdefault(piece.identity, {})
                    assert known.setdefault(key, value) == value, "a piece has the value of the whole"
        named = {table.catalog.digest: by_identity(table.catalog, table.rows) for table in self.tables}
        self.sets = {**self.sets, **find_match_sets(self.catalogs.values(), named, self.values)}

    def note_definitions(self, atoms: Iterable[Atom]) -> None:
        """Take note of what labels of atoms mean."""
        self.atoms.update((atom.label, atom) for atom in atoms)

    def sources(self, extent: Extent) -> set[int]:
        """The sources of an extent, by what its labels mean."""

        def inside(label: str, key: int) -> bool:
            if label in self.rows or label in self.sets:
                return key in self.rows.get(label, self.sets.get(label, ()))
            if label.startswith("sample(") and isinstance(key, tuple):
                return False  # samples are drawn of stars alone
            return holds(self._find_atom(label), key, self.values)

        everything = frozenset(self.keys)
        return set(extent.evaluate(lambda label: frozenset(k for k in everything if inside(label, k)), everything))

    def carry_out(self, step: PlanStep, needed: frozenset[str]) -> ByIdentity:
        """The rows of a step, with at least the attributes that are needed."""
        inputs = [
            self.carry_out(input_step, read) for input_step, read in zip(step.inputs, step.reads(needed), strict=True)
        ]
        rows = self._carry_out(step, inputs, needed)
        assert set(rows) == self.sources(step.extent), step
        wanted = needed.union(find_key(step.attributes))
        assert all(wanted <= row.keys() for row in rows.values()), "what is asked for is there"
        return rows

    def _carry_out(self, step: PlanStep, inputs: Sequence[ByIdentity], needed: frozenset[str]) -> ByIdentity:
        match step:
            case Scan(base=base):
                return _narrowed(by_identity(base, self.rows[base.digest]), needed)
            case FragmentScan(fragment=fragment):
                return _narrowed(self.contents[fragment.id], needed)
            case Nothing():
                return {}
            case Select(condition=condition):
                return {key: row for key, row in inputs[0].items() if self._is_true(condition, key, row)}
            case Derive(attribute=one, expression=expression):
                (read,) = expression.reads
                return {key: {**row, one.identity: _twice(row[read])} for key, row in inputs[0].items()}
            case Calculate():
                return self._calculated(step, inputs[0], needed)
            case Match():
                return match_rows(step, inputs, needed)
            case ContinuedMatch():
                return continue_rows(step, inputs, needed)
            case Matched():
                return matched_rows(step, inputs)
            case Restrict():
                return {key: row for key, row in inputs[0].items() if key in inputs[1]}
            case Exclude():
                return {key: row for key, row in inputs[0].items() if key not in inputs[1]}
            case Combine():
                common = set.intersection(*map(set, inputs))
                return {key: _merged([rows_by_key[key] for rows_by_key in inputs]) for key in common}
            case Concat():
                return _concatenated(step, inputs, needed)
            case Fill(missing=missing):
                return {
                    key: {**row, **{attribute.identity: None for attribute in missing}}
                    for key, row in inputs[0].items()
                }
        raise NotImplementedError(step.word)

    def _is_true(self, condition: Extent, key: int, row: Mapping[str, Value]) -> bool:
        values = {identity: {key: value} for identity, value in row.items()}
        inside, nowhere = frozenset({key}), frozenset[int]()
        return key in condition.evaluate(
            lambda label: inside if holds(self._find_atom(label), key, values) else nowhere, inside
        )

    def _find_atom(self, label: str) -> Atom:
        """What a label means; one on an attribute of a member may be new."""
        if label not in self.atoms:
            self.note_definitions(parse_criterion(label, self.attributes, canonical=True).atoms)
        return self.atoms[label]

    def _calculated(self, step: Calculate, rows: ByIdentity, needed: frozenset[str]) -> ByIdentity:
        read = step.arguments[0]
        inputs = {key: row[read] for key, row in rows.items()}
        results = calculated(step.calculator, inputs)
        identities = [output.identity for output in step.outputs]
        if not step.is_catalog_wide:
            for key, outputs in results.items():
                values = frozenset(
                    value
                    for identity, value in zip(identities, outputs, strict=True)
                    if identity in needed and value is not None
                )
                self.called.update([(values, key)] if values else [])
        return {key: {**row, **dict(zip(identities, results[key], strict=True))} for key, row in rows.items()}

    def stored(self, fragments: Iterable[FragmentScan]) -> set[tuple[Value, int]]:
        """The values that fragments hold, each with its key.

        No two numbers of a sky are equal but those that are known to be: a copy of a source's value, under whatever
        identity. So whether a value is stored is seen from the value alone, and not from what provenn makes of it.
        """
        return {
            (value, key)
            for fragment in fragments
            for key, row in self.contents[fragment.fragment.id].items()
            for value in row.values()
        }

    def _pieces(self, attribute: Attribute, key: int) -> Iterable[Attribute]:
        """The pieces that give a source its value, at any depth."""
        while attribute.all_pieces:
            attribute = next(piece.attribute for piece in attribute.all_pieces if key in self.rows[piece.member])
            yield attribute


def by_identity(catalog: Catalog, rows: Rows) -> ByIdentity:
    """Rows by identity instead of name."""
    names = {attribute.name: attribute.identity for attribute in catalog.schema.attributes}
    return {key: {names[name]: value for name, value in row.items()} for key, row in rows.items()}


def _narrowed(rows: ByIdentity, needed: frozenset[str]) -> ByIdentity:
    return {
        key: {identity: row[identity] for identity in row if identity in needed or is_key(identity)}
        for key, row in rows.items()
    }


def _merged(rows: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """The first one that has a value gives it."""
    return {identity: value for row in reversed(rows) for identity, value in row.items()}


def _concatenated(step: Concat, inputs: Sequence[ByIdentity], needed: frozenset[str]) -> ByIdentity:
    merged: ByIdentity = {}
    wanted = [
        (attribute, members)
        for attribute, members in step.columns
        if attribute.identity in needed or is_key(attribute.identity)
    ]
    for at, rows in enumerate(inputs):
        for key, row in rows.items():
            assert not (step.is_disjoint and key in merged), "members that are said to be disjoint are"
            merged.setdefault(key, {attribute.identity: row[members[at]] for attribute, members in wanted})
    return merged


# --- catalogs with calculators ---


def _twice(value: Value) -> Value:
    return None if value is None else 2 * value


def calculated(calculator: PythonCalculator, inputs: Mapping[int, Value]) -> dict[int, tuple[Value, ...]]:
    """What a calculator gives: two outputs by row; or one by all rows."""
    if calculator.scope == "catalog":
        known = sorted(value for value in inputs.values() if value is not None)
        return {key: (None if value is None else float(known.index(value)),) for key, value in inputs.items()}
    factor = calculator.parameters["factor"]
    # No two calculators give the same value; one that reads a renamed column is another calculator.
    own = {"z": 0.0371, "y": 0.0113}[calculator.parameters["value"]] + sum(map(ord, calculator.inputs[0])) * 1e-6
    return {
        key: (None, None) if value is None else (value * factor + own, value + factor + 2 * own)
        for key, value in inputs.items()
    }


def derive_table(rng: Random, table: Table) -> Table:
    """A table with what a calculator gives: two outputs by row, or one of the whole catalog."""
    numbers = [attribute.name for attribute in table.catalog.schema.attributes if attribute.type.name == "double"]
    read = "vmag" if "vmag" in numbers and rng.random() < 0.8 else rng.choice(numbers)
    value = "z" if rng.random() < 0.8 else "y"
    if rng.random() >= 0.1:
        return calculate_table(table, value, read, rng.choice([2.0, 2.0, 2.0, 3.0]))
    calculator = PythonCalculator.of(
        calls.ranked, inputs=[read], outputs={value: "double"}, parameters={"output": value}, scope="catalog"
    )
    return _add_outputs(table, calculator)


def calculate_table(table: Table, value: str, read: str = "vmag", factor: float = 2.0) -> Table:
    """A table with two outputs of a calculator by row: `value`, which is z or y, and its error."""
    outputs = {value: "double", f"e{value}": "double"}
    parameters = {"value": value, "error": f"e{value}", "factor": factor}
    return _add_outputs(table, PythonCalculator.of(calls.fitted, inputs=[read], outputs=outputs, parameters=parameters))


def _add_outputs(table: Table, calculator: PythonCalculator) -> Table:
    results = calculated(calculator, {key: row[calculator.inputs[0]] for key, row in table.rows.items()})
    rows = {key: {**row, **dict(zip(calculator.names, results[key], strict=True))} for key, row in table.rows.items()}
    return Table(DeriveAttributes.of(table.catalog, calculator), rows)


def _doubled(rng: Random, table: Table) -> Table:
    read = rng.choice(
        [attribute.name for attribute in table.catalog.schema.attributes if attribute.type.name == "double"]
    )
    rows = {key: {**row, "twice": _twice(row[read])} for key, row in table.rows.items()}
    return Table(DeriveAttributes.of(table.catalog, SqlCalculator.of({"twice": f"{read} * 2"})), rows)


def select_table(rng: Random, table: Table) -> Table:
    """A selection by a column, or by what a calculator gives."""
    name = rng.choice([name for name in table.catalog.schema.names if name != "hip"])
    cut = rng.choice([1, 2, 3])
    text, test = rng.choice(
        [
            (f"{name} < {cut}", lambda value: value is not None and value < cut),
            (f"{name} >= {cut}", lambda value: value is not None and value >= cut),
            (f"NOT ({name} < {cut})", lambda value: value is not None and not value < cut),
            (f"({name} < {cut}) IS NOT TRUE", lambda value: value is None or not value < cut),
            (f"{name} IS NULL OR {name} > {cut}", lambda value: value is None or value > cut),
            (f"{name} IS NULL", lambda value: value is None),
        ]
    )
    return Table(SelectSources.of(table.catalog, text), {k: row for k, row in table.rows.items() if test(row[name])})


def sample_table(rng: Random, table: Table) -> Table:
    """A sample by the key."""
    fraction = rng.choice([0.25, 0.5, 0.75])
    rows = {key: row for key, row in table.rows.items() if hash_of(key) < fraction}
    return Table(SampleSources.of(table.catalog, fraction, seed=1), rows)


def _with_fewer_attributes(rng: Random, table: Table) -> Table:
    names = [name for name in table.catalog.schema.names if rng.random() < 0.6]
    catalog = KeepAttributes.of(table.catalog, names)
    return Table(catalog, {key: {name: row[name] for name in catalog.names} for key, row in table.rows.items()})


def _renamed(rng: Random, table: Table) -> Table:
    old, new = rng.choice([name for name in table.catalog.schema.names if name != "hip"]), rng.choice(["w", "z", "y"])
    rows = {k: {new if name == old else name: value for name, value in row.items()} for k, row in table.rows.items()}
    return Table(RenameAttributes.of(table.catalog, {old: new}), rows)


def compare_tables(rng: Random, table: Table, other: Table) -> Table:
    """An intersection, a difference, a join or a union of two."""
    match rng.choice(["restrict", "exclude", "combine", "concat", "concat"]):
        case "restrict":
            rows = {key: row for key, row in table.rows.items() if key in other.rows}
            return Table(RestrictSources(table.catalog, other.catalog), rows)
        case "exclude":
            rows = {key: row for key, row in table.rows.items() if key not in other.rows}
            return Table(ExcludeSources(table.catalog, other.catalog), rows)
        case "combine":
            rows = {key: {**other.rows[key], **row} for key, row in table.rows.items() if key in other.rows}
            return Table(CombineAttributes.of(table.catalog, other.catalog), rows)
        case _:
            return concatenate_tables(table, other)


ALONE = (
    select_table,
    select_table,
    sample_table,
    _with_fewer_attributes,
    _renamed,
    _doubled,
    derive_table,
    derive_table,
)


def random_sets(rng: Random) -> list[Table]:
    """A small base, and sets of its sources that are selected, sampled and made from one another."""
    rows = {key: {"hip": key, "vmag": random_number(rng), "plx": random_number(rng)} for key in range(8)}
    tables = [Table(base("base"), rows)]
    for _ in range(rng.randint(4, 14)):
        tables += _made(rng, [tables[0], *tables[-6:]], [select_table, select_table, select_table, sample_table])
    return list({table.catalog.digest: table for table in tables}.values())


def random_sky(rng: Random) -> Sky:
    """Small bases, sets of their sources, what calculators give for these, and what is made from all of that.

    There are few criteria and few calculators, so that most catalogs which have an attribute overlap in part.
    """
    tables = []
    for tag in range(rng.choice([1, 1, 2])):
        keys = range(8) if tag == 0 else rng.sample(range(10), 5)
        rows = {key: {"hip": key, "vmag": random_number(rng), "plx": random_number(rng)} for key in sorted(keys)}
        tables.append(Table(base(f"base {tag}"), rows))
    sets = list(tables)
    for _ in range(rng.randint(2, 6)):
        sets += _made(rng, [*tables, *sets], [select_table, select_table, sample_table])
    costly: list[Table] = []
    for _ in range(rng.randint(2, 5)):
        costly += _made(rng, sets, [derive_table])
    for _ in range(rng.randint(0, 8)):
        costly += _made(rng, [*costly, *costly, *sets], ALONE)
    return Sky(list({table.catalog.digest: table for table in (*sets, *costly)}.values()))


def random_days(rng: Random) -> Sky:
    """Small bases that may overlap, put together in several ways, and what the same calculators give for all these."""
    days = []
    for tag in range(rng.choice([2, 3])):
        rows = {
            key: {"hip": key, "vmag": random_number(rng), "plx": random_number(rng)}
            for key in sorted(rng.sample(range(9), 4))
        }
        days.append(Table(base(f"day {tag}"), rows))
    sets = list(days)
    for _ in range(rng.randint(1, 4)):
        with suppress(ProvennError):
            sets.append(concatenate_tables(rng.choice(sets), rng.choice(days)))
        sets += _made(rng, sets, [select_table, select_table, sample_table])
    costly: list[Table] = []
    for _ in range(rng.randint(3, 7)):
        costly += _made(rng, [*sets, *costly[-2:]], [derive_table])
    for _ in range(rng.randint(0, 6)):
        costly += _made(rng, [*costly, *costly, *sets], ALONE)
    return Sky(list({table.catalog.digest: table for table in (*sets, *costly)}.values()))


def concatenate_tables(table: Table, other: Table) -> Table:
    """A concatenation whose first member gives the values."""
    catalog = ConcatSources.of(table.catalog, other.catalog, overlap="first")
    both = {**other.rows, **table.rows}
    return Table(catalog, {key: {name: row[name] for name in catalog.schema.names} for key, row in both.items()})


def _made(rng: Random, tables: Sequence[Table], alone: Sequence[Callable[[Random, Table], Table]]) -> list[Table]:
    with suppress(ProvennError, IndexError):  # what was drawn has no meaning
        if rng.random() < (0.4 if len(tables) > 1 and alone != [derive_table] else 0):
            return [compare_tables(rng, rng.choice(tables), rng.choice(tables))]
        return [rng.choice(alone)(rng, rng.choice(tables))]
    return []


def random_number(rng: Random) -> Value:
    """A number from 0 to 4 and a little more, so that no other number is the same; or none."""
    return None if rng.random() < 1 / 6 else rng.randrange(5) + rng.random() / 1000
