"""The order of events: registrations, definitions, runs, declarations and imports, by several people, in two orders.

Whatever the order, names mean the same, and that is what a model says that knows nothing of runs.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import provenn
from provenn.catalogs import PythonCalculator
from provenn.data import fragments
from provenn.errors import AmbiguousAttributeError, NotCoveredError, ProvennError, TargetError
from provenn.spark.engine import Engine
from provenn.spark.pipeline import Pipeline
from tests.spark import functions
from tests.targets.events import (
    Ambiguous,
    Definition,
    Event,
    Meaning,
    Missing,
    Model,
    Registered,
    World,
    column,
    in_order,
    pretend_run,
    python,
    real_run,
    register_python,
    sql,
    value,
)
from tests.targets.releases import DR1, DR2, two_releases

pytestmark = pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")  # what is declared at random may empty

G1, G2 = column("DR1"), column("DR2")

SOURCES = {
    "DR1": Model({"g": G1}),
    "DR2": Model({"g": G2}),
    "both": Model({"g": G2}),
    "bare": Model({}, {"g": frozenset([G2])}),
    "pair": Model({"g": G1, "g2": G2}),
    "shadow": Model({"g": sql("* 5", G2), "green": G2}),
    "hidden": Model({}, {"g": frozenset([sql("* 5", G2), G2]), "green": frozenset([G2])}),
}
NAMES = ("z", "w", "g", "green", "g2")

FIRST_DEFINITIONS = [
    Definition("DR1", "g", G1, frozenset()),
    Definition("DR2", "g", G2, frozenset()),
    Definition("", "g2", G2, frozenset()),
    Definition("", "green", G2, frozenset()),
    Definition("shadow", "g", sql("* 5", G2), frozenset([("sql", ("g", "green * 5"))])),
]


def define_sources(archive: provenn.Archive, folder: Path) -> None:
    """Define the catalogs whose sources are asked for."""
    dr1, dr2 = two_releases(archive, folder)
    dr2.restrict(dr1, name="both")
    dr2.select("g > 16").keep("id").select("id > 0", name="bare")
    dr1.combine(dr2.rename(g="g2"), name="pair")
    dr2.rename(g="green").derive(g="green * 5", name="shadow").keep("id").select("id > 0", name="hidden")


# --- events ---


def defining(name: str, define: Callable[[provenn.Archive], object], *rows: Definition, private: bool = False) -> Event:
    def model(world: World, who: str) -> None:
        world.definitions.extend(replace(row, private_to=who) if private else row for row in rows)

    return Event(f"define {name}", define, model=model)


def registering(called: str, output: str, of: str, factor: float | None, text: str = "") -> Event:
    if factor is not None:
        made = Registered(called, output, of, ("python", (factor, output, of)), partial(python, factor))
        do = partial(register_python, name=called, factor=factor, of=of, output=output)
    else:
        made = Registered(called, output, of, ("sql", (output, text)), partial(sql, text.removeprefix(f"{of} ")))
        do = partial(_register_sql, called=called, output=output, text=text)
    what = f"register {called}: {output} = {text or f'{factor} times {of}'}"
    return Event(what, do, queue=called, model=lambda world, _: world.registered.append(made))


def _register_sql(archive: provenn.Archive, called: str, output: str, text: str) -> None:
    archive.calculator(called, sql={output: text})


def preferring(name: str, which: str, after: str) -> Event:
    return Event(
        f"prefer {name} of {which}",
        lambda archive: archive.prefer(name, which),
        after=(after,),
        queue=f"prefer {name}",
        model=lambda world, _: world.preferences.update({name: which}),
    )


def _python_definition(archive: provenn.Archive) -> None:
    options = {"outputs": {"z": "double"}, "parameters": {"output": "z", "factor": 2.0}}
    archive["DR2"].derive(PythonCalculator.of(functions.scaled, inputs=["g"], **options), name="by_python")


def _store(archive: provenn.Archive, name: str) -> None:
    """Register a fragment of a catalog, if it is defined."""
    if name in archive:
        one = archive[name].definition
        columns = [(attribute.identity, attribute.name) for attribute in one.schema.attributes]
        with archive.context.database.writing() as writing:
            fragments.register(writing, one, columns, location=name, rows=3, files=(), seconds=1.0)


def _retract(archive: provenn.Archive) -> None:
    for fact in archive.facts():
        if fact.origin == "declared":
            archive.retract(fact.id)


TWICE, PLUS = ("sql", ("z", "w * 2")), ("sql", ("w", "g + 1"))
W = sql("+ 1", G2)
DEFINED = [
    defining(
        "thrice_1",
        lambda archive: archive["DR1"].derive(z="g * 3", name="thrice_1"),
        Definition("thrice_1", "z", sql("* 3", G1), frozenset([("sql", ("z", "g * 3"))])),
    ),
    defining(
        "thrice_2",
        lambda archive: archive["DR2"].derive(z="g * 3", name="thrice_2"),
        Definition("thrice_2", "z", sql("* 3", G2), frozenset([("sql", ("z", "g * 3"))])),
    ),
    defining(
        "chain",
        lambda archive: archive["DR2"].derive(w="g + 1").derive(z="w * 2", name="chain"),
        Definition("", "w", W, frozenset([PLUS])),
        Definition("chain", "z", sql("* 2", W), frozenset([PLUS, TWICE])),
    ),
    defining(
        "unnamed",
        lambda archive: archive["DR2"].derive(w="g * 4"),
        Definition("", "w", sql("* 4", G2), frozenset([("sql", ("w", "g * 4"))])),
        private=True,
    ),
    defining(
        "renamed",
        lambda archive: archive["DR1"].rename(g="green", name="renamed"),
        Definition("renamed", "green", G1, frozenset()),
    ),
    defining(
        "by_python",
        _python_definition,
        Definition("by_python", "z", python(2.0, G2), frozenset([("python", (2.0, "z", "g"))])),
    ),
]
REGISTERED = [
    registering("pz", "z", "g", 2.0),
    registering("pz", "z", "g", 5.0),
    registering("pz2", "z", "g", 2.0),
    registering("pz2", "z", "g", 7.0),
    registering("pw", "w", "g", None, "g + 1"),
    registering("pw", "w", "z", None, "z + 1"),
    registering("conv", "z", "w", None, "w * 2"),
]
PREFERRED = [
    preferring("z", "pz", REGISTERED[0].what),
    preferring("z", "thrice_1", "define thrice_1"),
    preferring("w", "pw", REGISTERED[4].what),
]
SILENT = [
    Event("declare", lambda archive: archive.declare("DR1 <= DR2")),
    Event("retract", _retract, after=("declare",)),
    *(Event(f"store {name}", partial(_store, name=name)) for name in ("thrice_2", "chain", "DR1")),
]


def running(run: Callable[..., None]) -> list[Event]:
    """Runs of what somebody asks for."""
    return [
        Event(f"run {name} of {sources}", partial(run, sources=sources, name=name))
        for sources, name in (
            *((sources, name) for sources in ("DR1", "DR2", "both", "bare") for name in ("z", "w")),
            ("DR2", "g AS green"),
            ("both", "DR1.g AS z"),
        )
    ]


def importing(file: Path) -> Event:
    """The import of a file from another archive: a definition, an earlier calculator, and what a run left behind."""
    nine = Definition("nine", "z", sql("* 9", G2), frozenset([("sql", ("z", "g * 9"))]))
    early = Registered("pw", "w", "g", ("sql", ("w", "g * 8")), partial(sql, "* 8"))

    def model(world: World, _: str) -> None:
        world.definitions.append(nine)
        world.registered.insert(0, early)

    return Event("import", lambda archive: archive.import_definitions(file), model=model)


# --- archives ---


class Places:
    """An archive with the sources that are asked for, of which copies are made; and a file to import."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0
        self.template, self.file = folder / "template", folder / "nine.provenn"
        with provenn.open(self.template, who="ada") as archive:
            define_sources(archive, folder)
        with self.copied("ada", confined=False) as other:
            other.calculator("pw", sql={"w": "g * 8"})
            other["DR2"].derive(z="g * 9", name="nine")
            pretend_run(other, "DR2", "g AS green")
            other.export_definitions(self.file)

    @contextmanager
    def copied(self, who: str, *, confined: bool) -> Iterator[provenn.Archive]:
        self.number += 1
        place = self.folder / f"copy{self.number}"
        shutil.copytree(self.template, place)
        with provenn.open(place, who=who, confined=confined, progress=False) as archive:
            yield archive

    @contextmanager
    def after(self, events: Sequence[Event], people: Mapping[str, str]) -> Iterator[provenn.Archive]:
        """An archive in which people have done things, one after the other."""
        with self.copied("ada", confined=False) as archive:
            for event in events:
                place, who = Path(archive.context.database.place).parent, people[event.what]
                with provenn.open(place, who=who, progress=False) as of_person:
                    of_person.context.workshop._pipeline = self.pipeline(of_person)
                    event.do(of_person)
                    of_person.context.workshop._pipeline = None
            yield archive

    def pipeline(self, _: provenn.Archive) -> Pipeline | None:
        """None: nothing is computed."""
        return None


class Computing(Places):
    """The same, with a Spark on which runs compute."""

    def __init__(self, folder: Path, engine: Engine) -> None:
        super().__init__(folder)
        self.engine = engine

    def pipeline(self, archive: provenn.Archive) -> Pipeline:
        return Pipeline(archive.context.database, archive.context.workshop.folder, self.engine)


def meaning(archive: provenn.Archive, sources: str, name: str) -> object:
    """The identity of what a name means; or the error."""
    try:
        plan = archive.target(sources, [name], missing="drop").plan()
    except ProvennError as error:
        return type(error), error.message
    return plan.schema[name].identity


def expected(world: World, sources: str, name: str) -> object:
    """What the model says: an expression, or which error."""
    try:
        return Meaning(world, SOURCES[sources]).of(name)
    except Ambiguous:
        return AmbiguousAttributeError
    except Missing:
        return TargetError


def modelled(events: Sequence[Event], people: Mapping[str, str]) -> World:
    world = World([*FIRST_DEFINITIONS])
    for event in sorted(events, key=lambda one: one.what == "import"):  # whose calculators are older than all others
        if event.model is not None:
            event.model(world, people[event.what])
    return world


def check_meanings(world: World, archives: Sequence[provenn.Archive], asked: Sequence[tuple[str, str]]) -> None:
    """Make sure that all archives say the same to each person, and what the model says."""
    for who in (None, "ada", "bob"):
        seen = [archive if who is None else archive.as_seen_by(who) for archive in archives]
        _check_seen(world.seen_by(who), seen, asked)


def _check_seen(world: World, archives: Sequence[provenn.Archive], asked: Sequence[tuple[str, str]]) -> None:
    expressions: dict[object, object] = {}
    for sources, name in asked:
        first, *others = (meaning(archive, sources, name) for archive in archives)
        assert all(other == first for other in others), (sources, name)
        told = expected(world, sources, name)
        if isinstance(told, type):
            assert isinstance(first, tuple), (sources, name, told)
            assert first[0] is told, (sources, name, told, first)
        else:
            assert isinstance(first, str), (sources, name, told, first)
            assert expressions.setdefault(told, first) == first, "one expression is one attribute"
    assert len(set(expressions.values())) == len(expressions), "and one attribute one expression"


# --- the tests ---


@pytest.fixture(scope="module")
def places(tmp_path_factory) -> Places:
    return Places(tmp_path_factory.mktemp("events"))


def cases(run: Callable[..., None], file: Path, size: int) -> st.SearchStrategy:
    """Some events, two orders of them, and who does what."""
    every = [*DEFINED, *REGISTERED, *PREFERRED, *SILENT, *running(run), importing(file)]
    order = {one.what: number for number, one in enumerate(every)}
    some = st.lists(st.sampled_from(every), min_size=2, max_size=size, unique_by=lambda one: one.what)
    priorities = st.lists(st.floats(0, 1), min_size=size, max_size=size)
    people = st.fixed_dictionaries({one.what: st.sampled_from(["ada", "bob"]) for one in every})
    return st.tuples(
        some.map(lambda found: sorted(found, key=lambda one: order[one.what])), priorities, priorities, people
    )


QUESTIONS = [(sources, name) for sources in SOURCES for name in NAMES]


def check_case(places: Places, case: tuple, asked: Sequence[tuple[str, str]]) -> None:
    events, one, other, people = case
    orders = [in_order(events, priorities[: len(events)]) for priorities in (one, other)]
    with places.after(orders[0], people) as first, places.after(orders[1], people) as second:
        check_meanings(modelled(orders[0], people), [first, second], asked)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_names_mean_the_same_in_whatever_order_things_are_done(places, data):
    asked = data.draw(st.lists(st.sampled_from(QUESTIONS), min_size=4, max_size=12, unique=True))
    check_case(places, data.draw(cases(pretend_run, places.file, 8)), asked)


@pytest.mark.campaign
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_names_mean_the_same_in_whatever_order_many_things_are_done(places, data):
    check_case(places, data.draw(cases(pretend_run, places.file, 25)), QUESTIONS)


@pytest.mark.campaign
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_values_are_those_of_the_model_in_whatever_order_things_are_computed(tmp_path_factory, engine, data):
    places = Computing(tmp_path_factory.mktemp("computing"), engine)
    events, one, other, people = data.draw(cases(real_run, places.file, 12))
    columns = {"DR1": dict(zip(DR1["id"], DR1["g"], strict=True)), "DR2": dict(zip(DR2["id"], DR2["g"], strict=True))}
    for priorities in (one, other):
        order = in_order(events, priorities[: len(events)])
        with places.after(order, people) as archive:
            archive.context.workshop._pipeline = places.pipeline(archive)
            world = modelled(order, people)
            for sources, name in (("DR2", "z"), ("both", "z"), ("both", "w"), ("bare", "z")):
                told = expected(world, sources, name)
                if isinstance(told, type):
                    continue
                found = archive.target(sources, [name], missing="drop").to_pandas().set_index("id")[name].to_dict()
                known = {key: {base: columns[base].get(key) for base in columns} for key in found}
                assert found == {key: value(told, known[key]) for key in found}
            archive.context.workshop._pipeline = None


@pytest.mark.parametrize("sources", SOURCES)
def test_the_model_says_what_a_new_archive_says(places, sources):
    """The sources as they are, before anything is done."""
    with places.after([], {}) as archive:
        check_meanings(modelled([], {}), [archive], [(sources, name) for name in NAMES])


def test_a_catalog_that_is_not_proved_to_have_it_is_told_as_always(places):
    with places.after([DEFINED[0]], {DEFINED[0].what: "bob"}) as archive, pytest.raises(NotCoveredError):
        archive.target("DR2", ["thrice_1.z"])
