"""Plans carried out with Python's dicts: no Spark, so that thousands of random histories can be tried.

Nothing here uses the code under test but the steps themselves. Each step that is carried out must give exactly the
sources of the extent that it claims to have, and is handed only the attributes that were asked of it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from provenn.catalogs import Attribute, Base, Catalog, DeriveAttributes, Extent, PythonCalculator, SelectSources, cone
from provenn.catalogs.lineage import facts_of
from provenn.criteria import Atom
from provenn.errors import ProvennError
from provenn.targets.execution import key_of
from provenn.targets.steps import (
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    Fill,
    Nothing,
    Restrict,
    Scan,
    Select,
    Step,
    Stored,
)
from tests.catalogs.samples import OPERATIONS, Rows, Table, Value, _base, holds, values_by_identity
from tests.targets import calls

__all__ = ["Sky", "skies"]

KEY = "key:star:0"
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
        For which sources each output was computed and needed: by identity and key.
    """

    tables: list[Table]
    contents: dict[int, ByIdentity] = field(default_factory=dict)
    called: Counter[tuple[frozenset[str], int]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.values = values_by_identity(self.tables)
        self.rows = {one.catalog.digest: one.rows for one in self.tables}
        self.keys = sorted({key for one in self.tables for key in one.rows})
        self.atoms: dict[str, Atom] = {}
        for one in cone(*(table.catalog for table in self.tables)):
            digests = [each.digest for each in one.dependencies]
            self.learn(facts_of(one.kind, one.digest, digests, one.parameters())[1])
            if isinstance(one, SelectSources):
                self.learn(one.criterion.atoms)

    def learn(self, atoms: Iterable[Atom]) -> None:
        """Take note of what labels of atoms mean."""
        self.atoms.update((one.label, one) for one in atoms)

    def sources(self, extent: Extent) -> set[int]:
        """The sources of an extent, by what its labels mean."""

        def inside(label: str, key: int) -> bool:
            if label in self.atoms:
                return holds(self.atoms[label], key, self.values)
            return key in self.rows[label]

        everything = frozenset(self.keys)
        return set(extent.evaluate(lambda label: frozenset(k for k in everything if inside(label, k)), everything))

    def carry_out(self, step: Step, needed: frozenset[str]) -> ByIdentity:
        """The rows of a step, with at least the attributes that are needed."""
        inputs = [self.carry_out(one, read) for one, read in zip(step.inputs, step.reads(needed), strict=True)]
        rows = self._carry_out(step, inputs, needed)
        assert set(rows) == self.sources(step.extent), step
        wanted = needed.union(key_of(step.attributes))
        assert all(wanted <= row.keys() for row in rows.values()), "what is asked for is there"
        return rows

    def _carry_out(self, step: Step, inputs: Sequence[ByIdentity], needed: frozenset[str]) -> ByIdentity:
        match step:
            case Scan(base=base):
                return _narrowed(by_identity(base, self.rows[base.digest]), needed)
            case Stored(fragment=fragment):
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
            case Restrict():
                return {key: row for key, row in inputs[0].items() if key in inputs[1]}
            case Exclude():
                return {key: row for key, row in inputs[0].items() if key not in inputs[1]}
            case Combine():
                common = set.intersection(*map(set, inputs))
                return {key: _merged([one[key] for one in inputs]) for key in common}
            case Concat():
                return _concatenated(step, inputs, needed)
            case Fill(missing=missing):
                return {key: {**row, **{one.identity: None for one in missing}} for key, row in inputs[0].items()}
        raise NotImplementedError(step.word)

    def _is_true(self, condition: Extent, key: int, row: Mapping[str, Value]) -> bool:
        values = {identity: {key: value} for identity, value in row.items()}
        here, nowhere = frozenset({key}), frozenset[int]()
        return key in condition.evaluate(lambda label: here if holds(self.atoms[label], key, values) else nowhere, here)

    def _calculated(self, step: Calculate, rows: ByIdentity, needed: frozenset[str]) -> ByIdentity:
        outputs = needed & {one.identity for one in step.outputs}
        if not step.whole:
            self.called.update((outputs, key) for key in rows)
        read = step.arguments[0]
        given = {key: row[read] for key, row in rows.items()}
        made = calculated(step.calculator, given)
        identities = [one.identity for one in step.outputs]
        return {key: {**row, **dict(zip(identities, made[key], strict=True))} for key, row in rows.items()}

    def stored(self, fragments: Iterable[Stored]) -> set[tuple[str, int]]:
        """The values that fragments hold, by identity and key; of an attribute in pieces also the piece itself."""
        found: set[tuple[str, int]] = set()
        for one in fragments:
            for identity, attribute in one.attributes.items():
                for key in self.contents[one.fragment.id]:
                    found.add((identity, key))
                    found.update((piece, key) for piece in self._pieces(attribute, key))
        return found

    def _pieces(self, attribute: Attribute, key: int) -> Iterable[str]:
        while attribute.pieces:
            attribute = next(one.attribute for one in attribute.pieces if key in self.rows[one.member])
            yield attribute.identity


def by_identity(catalog: Catalog, rows: Rows) -> ByIdentity:
    """Rows by identity instead of name."""
    names = {one.name: one.identity for one in catalog.schema.attributes}
    return {key: {names[name]: value for name, value in row.items()} for key, row in rows.items()}


def _narrowed(rows: ByIdentity, needed: frozenset[str]) -> ByIdentity:
    return {key: {one: row[one] for one in needed.union({KEY})} for key, row in rows.items()}


def _merged(rows: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """The first one that has a value gives it."""
    return {identity: value for row in reversed(rows) for identity, value in row.items()}


def _concatenated(step: Concat, inputs: Sequence[ByIdentity], needed: frozenset[str]) -> ByIdentity:
    found: ByIdentity = {}
    wanted = [(one, given) for one, given in step.columns if one.identity in needed or one.identity == KEY]
    for at, rows in enumerate(inputs):
        for key, row in rows.items():
            assert not (step.disjoint and key in found), "members that are said to be disjoint are"
            found.setdefault(key, {one.identity: row[given[at]] for one, given in wanted})
    return found


# --- catalogs with calculators ---


def _twice(value: Value) -> Value:
    return None if value is None else 2 * value


def calculated(calculator: PythonCalculator, given: Mapping[int, Value]) -> dict[int, tuple[Value, ...]]:
    """What a calculator gives: two outputs by row; or one by all rows."""
    if calculator.scope == "catalog":
        known = sorted(value for value in given.values() if value is not None)
        return {key: (None if value is None else float(known.index(value)),) for key, value in given.items()}
    factor = calculator.parameters["factor"]
    return {key: (None, None) if value is None else (value * factor, value + factor) for key, value in given.items()}


def _calculate(draw: st.DrawFn, tables: list[Table]) -> Table | None:
    one = draw(st.sampled_from(tables))
    numbers = [each.name for each in one.catalog.schema.attributes if each.type.name == "double"]
    if not numbers:
        return None
    read = draw(st.sampled_from(numbers))
    value, error = draw(st.sampled_from([("z", "ez"), ("z", "ez"), ("y", "ey")]))
    if draw(st.integers(0, 5)) == 0:
        function, outputs, scope = calls.ranked, {value: "double"}, "catalog"
        parameters: dict[str, object] = {"output": value}
    else:
        function, outputs, scope = calls.fitted, {value: "double", error: "double"}, "row"
        parameters = {"value": value, "error": error, "factor": draw(st.sampled_from([2.0, 3.0]))}
    calculator = PythonCalculator.of(function, inputs=[read], outputs=outputs, parameters=parameters, scope=scope)
    try:
        made = DeriveAttributes.of(one.catalog, calculator)
    except ProvennError:  # it has another attribute of this name
        return None
    found = calculated(calculator, {key: row[read] for key, row in one.rows.items()})
    rows = {key: {**row, **dict(zip(calculator.names, found[key], strict=True))} for key, row in one.rows.items()}
    return Table(made, rows)


Operation = Callable[[st.DrawFn, list[Table]], Table | None]


@st.composite
def skies(draw: st.DrawFn, most: int = 9) -> Sky:
    """One to three bases with random rows, and catalogs of all classes but matches made from them and one another."""
    tables = [_base(draw, tag) for tag in range(draw(st.integers(1, 3)))]
    operations = [*OPERATIONS, *[_calculate] * 5]
    for _ in range(draw(st.integers(2, most))):
        made = draw(st.sampled_from(operations))(draw, tables)
        if made is not None:
            tables.append(made)
    return Sky(tables)


def bases(sky: Sky) -> list[Base]:
    """The base catalogs."""
    return [one.catalog for one in sky.tables if isinstance(one.catalog, Base)]
