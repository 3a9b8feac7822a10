"""That what is read for a question answers it as the whole archive would, by enumerating every object there could be.

An object is: whether it is in each base set, and a value of each attribute that a criterion reads. That is enough to
say in which catalogs it is. Facts forbid some of the objects, and want others to exist.
"""

from collections.abc import Iterable
from math import prod

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from provenn.catalogs import Catalog, RestrictSources, SelectSources, cone
from provenn.criteria import Atom
from provenn.criteria.domains import encode_double
from provenn.definitions import catalog_store
from provenn.definitions.ancestors import read_cone as cone_of
from provenn.errors import ContradictionError
from provenn.knowledge.consequences import FactOrigin, build_knowledge
from provenn.knowledge.declarations import declare_fact
from provenn.knowledge.stored_facts import read_closed_cone
from provenn.logic import Statement, disjoint, empty, equal, nonempty, outside, overlapping, proper_subset, subset
from tests.catalogs.samples import SET_OPERATIONS, base, lineages
from tests.contracts.catalog_store import undone

# Values on, between and beyond the constants of the criteria, 1 to 3, and the fractions of the samples, 1/4 and 1/2.
DOUBLES = (None, 0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5)
KEYS = (0, 1, 2, 3, 4)
HASHES = (0.1, 0.3, 0.6)
MOST_OBJECTS = 2**20


def values_of(term: str) -> tuple[float | None, ...]:
    return HASHES if term.startswith("sample(") else KEYS if term.startswith("`key:") else DOUBLES


def holds(atom: Atom, value: float | None) -> bool:
    if value is None or atom.cut is None:
        return value is not None
    if atom.term.startswith("sample("):
        return int(value * 2**63) < int(atom.cut)
    return (value if isinstance(value, int) else encode_double(value)) < int(atom.cut)


class Objects:
    """All objects there could be; a set of them is a number, one bit an object."""

    def __init__(self, catalogs: Iterable[Catalog]) -> None:
        lineage = cone(*catalogs)
        self.bases = [catalog.digest for catalog in lineage if catalog.kind == "Base"]
        atoms = {atom.label: atom for parsed in lineage for atom in parsed.atoms()}
        terms = sorted({atom.term for atom in atoms.values()})
        choices = {**dict.fromkeys(self.bases, (False, True)), **{term: values_of(term) for term in terms}}
        size = prod(map(len, choices.values()))
        assume(size <= MOST_OBJECTS)
        self.everything = (1 << size) - 1
        with_value: dict[str, list[int]] = {}
        stride = 1
        for what, values in choices.items():
            # The choice is the same in blocks of `stride` objects, and comes again with a period.
            period = stride * len(values)
            blocks = self.everything // ((1 << period) - 1) * ((1 << stride) - 1)
            with_value[what] = [blocks << stride * number for number in range(len(values))]
            stride = period
        self.sets = {item: with_value[item][1] for item in self.bases}
        for label, atom in atoms.items():
            chosen = zip(choices[atom.term], with_value[atom.term], strict=True)
            self.sets[label] = sum(objects for value, objects in chosen if holds(atom, value))
        for step in lineage:
            if step.kind != "Base":
                self.sets[step.digest] = self._meaning(step)

    def _meaning(self, catalog: Catalog) -> int:
        first, *others = (self.sets[dependency.digest] for dependency in catalog.dependencies)
        match catalog.kind:
            case "SelectSources":
                return first & catalog.selection.true.evaluate(self.sets.__getitem__, 0, self.everything)
            case "SampleSources":
                return first & (self.sets[catalog.atoms()[0].label] if catalog.fraction < 1 else self.everything)
            case "ExcludeSources":
                return first & ~others[0]
            case "ConcatSources":
                for other in others:
                    first |= other
            case "RestrictSources" | "CombineAttributes":
                for other in others:
                    first &= other
        return first


class Oracle:
    """What facts that are conjunctions say of objects: which there are not, and of which there are some."""

    def __init__(self, objects: Objects, facts: Iterable[Statement]) -> None:
        self.objects = objects
        self.possible = objects.everything
        in_a_base = 0
        for item in objects.bases:
            in_a_base |= objects.sets[item]
        self.inhabited = [objects.everything & ~in_a_base]
        for fact in facts:
            for region, inhabited in self._claims(fact):
                if inhabited:
                    self.inhabited.append(region)
                else:
                    self.possible &= ~region

    def _claims(self, said: Statement):
        objects = self.objects
        return [
            (claim.region.evaluate(objects.sets.__getitem__, 0, objects.everything), claim.inhabited)
            for claim in said.claims()
        ]

    @property
    def consistent(self) -> bool:
        return all(self.possible & item for item in self.inhabited)

    def entails(self, said: Statement) -> bool:
        return all(
            any(not self.possible & item & ~region for item in self.inhabited)
            if inhabited
            else not self.possible & region
            for region, inhabited in self._claims(said)
        )


PAIRS = [equal, subset, proper_subset, disjoint, overlapping]
OPERATIONS = [*SET_OPERATIONS, *[SET_OPERATIONS[0]] * 6]
"""Selections more often than others: criteria have more to do with one another."""


def statements(digests):
    item = st.sampled_from(digests)
    return st.one_of(
        st.builds(lambda make, left, right: make(left, right), st.sampled_from(PAIRS), item, item),
        st.builds(lambda make, only: make(only), st.sampled_from([empty, nonempty]), item),
    )


class KnowledgeContract:
    examples = 40

    def test_the_cone_of_a_question_answers_as_every_object_would(self, database):
        @settings(
            max_examples=self.examples,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        )
        @given(st.data())
        def check(data):
            tables = data.draw(lineages(most=8, bases=data.draw(st.integers(1, 4)), operations=OPERATIONS))
            catalogs = [table.catalog for table in tables]
            digests = [catalog.digest for catalog in catalogs]
            objects = Objects(catalogs)
            pairs = st.tuples(st.sampled_from(digests), st.sampled_from(digests))
            with undone(database) as writing:
                catalog_store.add_catalogs(writing, *catalogs)
                declared = []
                for statement in data.draw(st.lists(statements(digests), max_size=5)):
                    fits = Oracle(objects, [*declared, statement]).consistent
                    try:
                        declare_fact(writing, statement, "")
                    except ContradictionError:
                        assert not fits
                    else:
                        assert fits
                        declared.append(statement)
                oracle = Oracle(objects, declared)
                for item, other in data.draw(st.lists(pairs, min_size=4, max_size=12)):
                    known = build_knowledge(*read_closed_cone(writing, [item, other])).knowledge
                    for question in (nonempty(item), *(make(item, other) for make in PAIRS)):
                        assert known.entails(question) == oracle.entails(question), str(question)

        check()

    def test_the_origin_of_every_fact_of_a_proof_is_known(self, database):
        first, two = base("one"), base("two")
        bright, faint = SelectSources.of(first, "vmag < 6"), SelectSources.of(first, "vmag < 8")
        met = RestrictSources(faint, two)
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, bright, met)
            fact = declare_fact(writing, disjoint(first.digest, two.digest), "")
            known = build_knowledge(*read_closed_cone(writing, [bright.digest, met.digest]))
        assert len(known.origins) == len(known.knowledge.facts)

        def origins(said):
            because = known.because(said)
            assert {fact for fact, _ in because} == set(known.knowledge.explain(said).facts)
            return {origin for _, origin in because}

        assert origins(subset(bright.digest, faint.digest)) == {
            FactOrigin("criterion"),
            FactOrigin("definition", catalog=bright.digest),
            FactOrigin("definition", catalog=faint.digest),
        }
        assert origins(empty(met.digest)) == {
            FactOrigin("definition", catalog=faint.digest),
            FactOrigin("definition", catalog=met.digest),
            FactOrigin("declared", fact=fact.id),
        }
        assert origins(outside(first.digest)) == {FactOrigin("open universe")}
        assert known.because(subset(faint.digest, bright.digest)) == (), "it does not follow"

    def test_every_population_has_its_own_outside(self, database):
        stars, galaxies = base(), base("galaxies", {"pgc": "bigint"}, key="pgc", population="galaxy")
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, stars, galaxies)
            known = build_knowledge(cone_of(writing, [stars.digest, galaxies.digest])).knowledge
        assert known.entails(outside(stars.digest))
        assert known.entails(outside(galaxies.digest))
        assert not known.entails(outside(stars.digest, galaxies.digest))
