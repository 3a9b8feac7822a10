"""Portable files: what comes out is what went in; and whatever a file holds, an archive stays sound."""

import gzip
import json
import shutil
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from io import BytesIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select, update

from provenn.catalogs import KeepAttributes, SelectSources, SqlCalculator
from provenn.database.tables import catalogs, metadata
from provenn.database.tables import facts as fact_rows
from provenn.database.tables import names as name_rows
from provenn.definitions import catalog_names, catalog_store, naming_history, registered_calculators
from provenn.definitions.base_locations import find_base_location
from provenn.errors import (
    CatalogNameError,
    ContradictionError,
    FileError,
    PopulationError,
    ProvennError,
    UnknownCatalogError,
)
from provenn.formats.opening import open_database
from provenn.knowledge.consequences import build_knowledge
from provenn.knowledge.declarations import declare_fact, retract_fact
from provenn.knowledge.stored_facts import find_all_facts, get_fact, read_whole_population
from provenn.logic import disjoint, empty, nonempty, subset
from provenn.people import projects
from provenn.people.visibility import CatalogAction, filter_visible_actions
from provenn.transfer.exporting import export_archive
from provenn.transfer.importing import import_archive
from provenn.transfer.portable_files import KINDS, LONGEST
from tests.catalogs.samples import base, lineages

STARS = base()
BRIGHT = SelectSources.of(STARS, "vmag < 6")
FAINT = SelectSources.of(STARS, "vmag > 8")
SLIM = KeepAttributes.of(BRIGHT, ["hip", "vmag"])
EXAMPLES = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


def exported(database, only=None) -> bytes:
    file = BytesIO()
    with database.reading() as reading:
        export_archive(reading, file, only)
    return file.getvalue()


def imported(database, content, **options):
    with database.writing() as writing:
        return import_archive(writing, BytesIO(content), "a file", **options)


def empty_out(place) -> None:
    with open_database(place) as database, database.writing() as writing:
        for table in reversed(metadata.sorted_tables):
            writing.connection.execute(delete(table))


def answers(database):
    """What an archive answers to everything that a portable file is to carry."""
    with database.reading() as reading:
        digests = sorted(reading.connection.scalars(select(catalogs.c.digest)))
        held = catalog_store.get_catalogs(reading, digests) if digests else {}
        shown = catalog_store.find_entries(reading, digests)
        return {
            "catalogs": [(held[digest], held[digest].notes(), shown[digest]) for digest in digests],
            "names": [
                naming_history.read_name_history(reading, name.name) for name in catalog_names.list_names(reading)
            ],
            "files": [find_base_location(reading, digest) for digest in digests if held[digest].kind == "Base"],
            "facts": [
                (str(fact.statement), fact.reason, fact.origin, fact.declared_by, fact.declared_at, fact.retracted_at)
                for fact in find_all_facts(reading, retracted=True)
            ],
            "calculators": registered_calculators.list_registered_calculators(reading),
            "preferences": registered_calculators.read_preferences(reading),
        }


def assert_sound(database) -> None:
    """Make sure that all an archive holds can be read, agrees with its digests, and is free of contradictions."""
    output = answers(database)
    with database.reading() as reading:
        for population in {catalog.population.name for catalog, _, _ in output["catalogs"]}:
            definitions, known = read_whole_population(reading, population)
            assert build_knowledge(definitions, known).knowledge.consistent
        if database.engine.dialect.name == "sqlite":
            assert reading.connection.exec_driver_sql("PRAGMA foreign_key_check").first() is None


@pytest.fixture
def new(tmp_path, sqlite_archive):
    """Open empty archives."""
    opened = []

    def make(who="importer"):
        place = shutil.copy(sqlite_archive, tmp_path / f"{len(opened)}.sqlite")
        opened.append(open_database(place, who=who))
        return opened[-1]

    yield make
    for item in opened:
        item.close()


@pytest.fixture
def filled(new):
    """An archive with something of everything."""
    database = new("ada")
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, SLIM, FAINT)
        catalog_names.assign_name(writing, "bright", BRIGHT.digest)
        catalog_names.assign_name(writing, "moved", BRIGHT.digest)
        catalog_names.move_name(writing, "moved", SLIM.digest)
        catalog_names.assign_name(writing, "gone", FAINT.digest)
        catalog_names.remove_name(writing, "gone")
        declare_fact(writing, nonempty(BRIGHT.digest), "seen")
        retract_fact(writing, declare_fact(writing, nonempty(FAINT.digest), "was thought").id, "was not so")
        registered_calculators.register_calculator(writing, "twice", SqlCalculator.of({"twice": "2 * vmag"}))
        registered_calculators.prefer_identity(writing, "twice", "x")
    return database


@st.composite
def deeds(draw):
    """A lineage, and what is done with it: names put, moved and deleted, facts declared and retracted."""
    results = [entry.catalog for entry in draw(lineages(most=6))]
    pick = st.sampled_from(results)
    called = st.text(st.characters(blacklist_categories=("C", "Z")), min_size=1, max_size=5)
    done = st.one_of(
        st.tuples(st.just("assign"), called, pick),
        st.tuples(st.just("move"), called, pick),
        st.tuples(st.just("remove"), called),
        st.tuples(st.just("declare"), st.sampled_from([nonempty, empty]), pick),
        st.tuples(st.just("compare"), st.sampled_from([subset, disjoint]), pick, pick),
        st.tuples(st.just("retract"), st.integers(1, 3)),
    )
    return results, draw(st.lists(done, max_size=12))


def do(writing, deed, *how) -> None:
    if deed in ("assign", "move"):
        getattr(catalog_names, f"{deed}_name")(writing, how[0], how[1].digest)
    elif deed == "remove":
        catalog_names.remove_name(writing, *how)
    elif deed == "retract":
        retract_fact(writing, how[0], "no more")
    else:
        declare_fact(writing, how[0](*(catalog.digest for catalog in how[1:])), "so they say")


@EXAMPLES
@given(done=deeds())
def test_from_sqlite_to_postgresql_and_back_every_answer_is_the_same(done, new, postgres_archive):
    result, items = done
    place, back = new("ada"), new()
    with place.writing() as writing:
        catalog_store.add_catalogs(writing, *result)
    for deed in items:
        with suppress(ProvennError), place.writing() as writing:
            do(writing, *deed)
    file = exported(place)
    empty_out(postgres_archive)
    with open_database(postgres_archive, who="importer") as there:
        came = imported(there, file)
        assert sum(came.there.values()) == 0
        assert answers(there) == answers(place)
        assert exported(there) == file, "the same bytes"
        again = imported(there, file)
        assert sum(again.new.values()) == 0, "twice is once"
        assert exported(there) == file
        imported(back, exported(there))
    assert exported(back) == file
    assert answers(back) == answers(place)
    assert_sound(back)


def test_something_of_everything_comes_through(filled, new):
    there = new()
    came = imported(there, exported(filled))
    assert came.new == {"definition": 4, "name": 3, "fact": 2, "calculator": 1, "preference": 1}
    assert answers(there) == answers(filled)
    with there.reading() as reading:
        assert [change.catalog for change in naming_history.read_name_history(reading, "gone")] == [None, FAINT.digest]


def test_some_catalogs_come_with_their_lineage_and_what_is_said_of_them_alone(filled, new):
    there = new()
    with filled.writing() as writing:
        declare_fact(writing, disjoint(BRIGHT.digest, FAINT.digest), "")
    came = imported(there, exported(filled, [BRIGHT.digest]))
    assert came.new == {"definition": 2, "name": 1, "fact": 1, "calculator": 0, "preference": 0}
    with there.reading() as reading:
        assert catalog_store.get_catalog(reading, catalog_names.find_named_digest(reading, "bright")) == BRIGHT
        with pytest.raises(UnknownCatalogError):
            naming_history.read_name_history(reading, "moved")
    with pytest.raises(UnknownCatalogError):
        exported(filled, ["0" * 64])
    assert sum(imported(there, exported(filled, [])).new.values()) == 0


def test_a_name_of_another_catalog_is_refused_unless_there_is_a_prefix(filled, new):
    there = new()
    with there.writing() as writing:
        catalog_store.add_catalogs(writing, FAINT)
        catalog_names.assign_name(writing, "bright", FAINT.digest)
    before = exported(there)
    with pytest.raises(CatalogNameError, match=r"bright already names another catalog in this archive(.|\n)*prefix="):
        imported(there, exported(filled))
    assert exported(there) == before, "all or nothing"
    for _ in range(2):
        imported(there, exported(filled), prefix="theirs/")
    with there.reading() as reading:
        assert [name.name for name in catalog_names.list_names(reading)] == ["bright", "theirs/bright", "theirs/moved"]
    with pytest.raises(FileError, match="cannot name a catalog"):
        imported(there, exported(filled), prefix="\n")


def test_a_contradiction_is_refused_with_the_conflict(filled, new):
    there = new()
    with there.writing() as writing:
        catalog_store.add_catalogs(writing, BRIGHT)
        declare_fact(writing, empty(BRIGHT.digest), "all too faint")
    before = exported(there)
    with pytest.raises(ContradictionError) as caught:
        imported(there, exported(filled))
    assert set(map(str, caught.value.conflict.facts)) == {str(empty(BRIGHT.digest)), str(nonempty(BRIGHT.digest))}
    assert exported(there) == before


def test_a_retraction_comes_later(filled, new):
    there = new()
    imported(there, exported(filled))
    with filled.writing() as writing:
        retract_fact(writing, 1, "not seen again")
    assert imported(there, exported(filled)).new["fact"] == 1
    assert answers(there)["facts"] == answers(filled)["facts"]
    with there.reading() as reading:
        gone = find_all_facts(reading, retracted=True)[0]
        assert (gone.retracted_by, gone.retracted_reason) == ("ada", "not seen again")


def test_what_is_private_stays_so(filled, new):
    with filled.writing() as writing:
        writing.connection.execute(update(name_rows).values(visibility="private", owner="ada"))
        writing.connection.execute(update(fact_rows).values(visibility="project", project="survey"))
    there = new()
    imported(there, exported(filled))
    with there.reading() as reading:
        assert set(reading.connection.execute(select(name_rows.c["owner", "visibility", "project"]))) == {
            ("ada", "private", None)
        }
        assert set(reading.connection.execute(select(fact_rows.c["visibility", "project"]))) == {("project", "survey")}


def confined(database, who):
    return replace(database, who=who, viewer=who)


def test_who_is_confined_reaches_nothing_by_a_digest_that_he_may_not_see(new):
    """He neither names it, nor makes something from it, nor says something of it: for him there is no such catalog."""
    database, elsewhere = new("ada"), new("ada")
    for item in (database, elsewhere):
        with item.writing() as writing:
            catalog_store.add_catalogs(writing, STARS if item is database else SLIM)
            catalog_names.assign_name(writing, "stars", STARS.digest, "public")
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, BRIGHT)
    with elsewhere.writing() as writing:
        catalog_names.assign_name(writing, "mine", BRIGHT.digest, "public")
        declare_fact(writing, nonempty(BRIGHT.digest), "")
    lines = lines_of(exported(elsewhere))
    held = [line for line in lines if line.get("definition", {}).get("digest") == STARS.digest]
    slim, name, fact = (
        next(line for line in lines if line.get(kind, {}).get(key) == value)
        for kind, key, value in (
            ("definition", "digest", SLIM.digest),
            ("name", "name", "mine"),
            ("fact", "statement", str(nonempty(BRIGHT.digest))),
        )
    )
    for element in (slim, name, fact):
        with pytest.raises(FileError, match="there is no catalog"):
            imported(confined(database, "ben"), packed([lines[0], *held, element, lines[-1]]))
    with confined(database, "ben").reading() as reading:
        assert catalog_store.count_catalogs(reading) == 1


def test_who_is_confined_cannot_have_had_a_name_before(new):
    """Else he would be told what others did with what he names, as if they had shared it with him."""
    database, elsewhere = new("ada"), new("ben")
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, BRIGHT)
        done = CatalogAction(BRIGHT.digest, "ada", writing.when)
    with elsewhere.writing() as writing:
        catalog_store.add_catalogs(writing, BRIGHT)
        catalog_names.assign_name(writing, "mine", BRIGHT.digest, "public")
    lines = lines_of(exported(elsewhere))
    for line in lines:
        for change in line.get("name", {}).get("history", ()):
            change[1] = "2000-01-01T00:00:00+00:00"
    imported(confined(database, "ben"), packed(lines))
    with confined(database, "ben").reading() as reading:
        assert catalog_names.find_named_digest(reading, "mine") == BRIGHT.digest
        assert naming_history.read_name_history(reading, "mine")[0].at >= done.at
        assert filter_visible_actions(reading, {done}) == frozenset()


@pytest.mark.parametrize("who", ["ada", "ben"])
def test_a_private_fact_that_contradicts_what_comes_is_suspended(who, new):
    """Whoever imports it: else nothing could be proved to its owner any more."""
    database, elsewhere = new("ada"), new("ben")
    for item in (database, elsewhere):
        with item.writing() as writing:
            catalog_store.add_catalogs(writing, BRIGHT, SLIM)
            catalog_names.assign_name(writing, "bright", BRIGHT.digest, "public")
            catalog_names.assign_name(writing, "slim", SLIM.digest, "public")
    with database.writing() as writing:
        mine = declare_fact(writing, empty(BRIGHT.digest), "", visibility="private")
    with elsewhere.writing() as writing:
        declare_fact(writing, nonempty(SLIM.digest), "")
    imported(replace(database, who=who), exported(elsewhere))
    with database.reading() as reading:
        fact = get_fact(reading, mine.id)
        assert (fact.holds, "suspended" in (fact.retracted_reason or "")) == (False, True)
        assert build_knowledge(*read_whole_population(reading, "star")).knowledge.entails(nonempty(BRIGHT.digest))


def test_who_is_confined_is_not_told_of_facts_about_catalogs_that_he_does_not_see(new):
    """Not even that they contradict what he imports: their owner finds them suspended, as after a declaration."""
    database, elsewhere = new("ada"), new("ben")
    for item in (database, elsewhere):
        with item.writing() as writing:
            catalog_store.add_catalogs(writing, STARS)
            catalog_names.assign_name(writing, "stars", STARS.digest, "public")
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, BRIGHT)
        hidden = [
            declare_fact(writing, statement, "")
            for statement in (subset(STARS.digest, BRIGHT.digest), empty(BRIGHT.digest))
        ]
    with elsewhere.writing() as writing:
        declare_fact(writing, nonempty(STARS.digest), "")
    imported(confined(database, "ben"), exported(elsewhere))
    with database.reading() as reading:
        assert not all(get_fact(reading, element.id).holds for element in hidden)
        assert build_knowledge(*read_whole_population(reading, "star")).knowledge.entails(nonempty(STARS.digest))


def test_a_private_fact_that_nothing_contradicts_stays_when_others_come(new):
    database, elsewhere = new("ada"), new("ben")
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, BRIGHT, FAINT)
        mine = declare_fact(writing, empty(FAINT.digest), "", visibility="private")
    with elsewhere.writing() as writing:
        catalog_store.add_catalogs(writing, BRIGHT)
        declare_fact(writing, nonempty(BRIGHT.digest), "")
    imported(database, exported(elsewhere))
    with database.reading() as reading:
        assert get_fact(reading, mine.id).holds


def test_a_fact_of_two_projects_comes_for_both(new):
    database, other = new("ada"), new()
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, BRIGHT)
        for project in ("north", "south"):
            projects.create_project(writing, project)
            declare_fact(writing, nonempty(BRIGHT.digest), "", visibility="project", project=project)
    imported(other, exported(database))
    with other.reading() as reading:
        assert [fact.project for fact in find_all_facts(reading)] == ["north", "south"]


def test_a_preference_that_differs_stays_and_is_told(filled, new):
    there = new()
    with there.writing() as writing:
        registered_calculators.prefer_identity(writing, "twice", "y")
    assert imported(there, exported(filled)).kept == ("twice",)
    with there.reading() as reading:
        assert registered_calculators.read_preferences(reading)["twice"].identity == "y"


def test_a_population_with_another_key_is_refused(filled, new):
    there = new()
    with there.writing() as writing:
        catalog_store.add_catalogs(writing, base(columns={"hip": "string"}))
    with pytest.raises(PopulationError, match="key"):
        imported(there, exported(filled))


# --- files that are not what they should be ---


def lines_of(content: bytes) -> list[dict]:
    return [json.loads(line) for line in gzip.decompress(content).splitlines()]


def packed(lines: list[dict], *, recount: bool = True) -> bytes:
    """Make a file of lines as somebody would who knows the format: with counts and digest that fit."""
    body = [line for line in lines[1:] if "digest" not in line]
    if recount:
        lines[0]["counts"] = {kind: sum(kind in line for line in body) for kind in KINDS}
    text = "".join(json.dumps(line) + "\n" for line in (lines[0], *body)).encode()
    return gzip.compress(text + json.dumps({"digest": sha256(text).hexdigest()}).encode() + b"\n")


@pytest.mark.parametrize(
    ("change", "output"),
    [
        (lambda file: file[: len(file) // 2], "not complete"),
        (lambda file: file[:-1], "not complete"),
        (lambda _: b"", "not complete"),
        (lambda _: b"hip,vmag\n1,2.0\n", "is not a file of `provenn archive export`"),
        (lambda _: gzip.compress(b"hip,vmag\n1,2.0\n"), "is not a file of"),
        (lambda _: gzip.compress(b"[1]\n"), "is not a file of"),
        (lambda _: gzip.compress(b"{}\n"), "is not a file of"),
        (lambda _: gzip.compress(b"[" * 100_000 + b"\n"), "is not a file of"),
        (lambda _: gzip.compress(b"\xff\xfe\n"), "is not a file of"),
        (lambda file: file + gzip.compress(b"{}\n"), "was changed"),
        (lambda file: file + b"x", "damaged|changed"),
        (
            lambda file: packed([{**lines_of(file)[0], "version": 3}, *lines_of(file)[1:]]),
            "version '3'.*reads versions up to 2",
        ),
        (lambda file: gzip.compress(gzip.decompress(file).replace(b"seen", b"SEEN", 1)), "was changed|line"),
        (lambda file: packed(lines_of(file)[:-3], recount=False), "was changed"),
        (lambda file: packed([*lines_of(file)[:2], *lines_of(file)[1:]]), "occurs twice"),
        (lambda file: packed([lines_of(file)[0], *lines_of(file)[2:]]), "there is no catalog"),
        (lambda file: packed([lines_of(file)[0], *reversed(lines_of(file)[1:])]), "out of place"),
        (lambda file: packed([*lines_of(file), {"token": {}}]), "out of place"),
    ],
)
def test_a_file_that_is_damaged_foreign_or_newer_is_refused_in_words(change, output, filled, new):
    there = new()
    with pytest.raises(FileError, match=output):
        imported(there, change(exported(filled)))
    with there.reading() as reading:
        assert catalog_store.count_catalogs(reading) == 0


def test_a_line_without_an_end_is_not_read_to_its_end(new):
    bomb = BytesIO()
    with gzip.GzipFile(fileobj=bomb, mode="wb") as file:
        for _ in range(4 * LONGEST // 2**20):
            file.write(b"a" * 2**20)
    assert len(bomb.getvalue()) < 200_000
    with pytest.raises(FileError, match="a line of more than 16 MB"):
        imported(new(), bomb.getvalue())


def tried(database, content) -> bool:
    """Import a file that may be anything; return whether it was taken. The archive is sound in either case."""
    before = exported(database)
    try:
        imported(database, content)
    except ProvennError:
        assert exported(database) == before, "all or nothing"
        return False
    assert_sound(database)
    return True


@settings(EXAMPLES, max_examples=25)
@given(data=st.data())
def test_a_file_of_which_any_byte_is_changed_is_refused_or_means_the_same(data, filled, new):
    content = bytearray(exported(filled))
    position = data.draw(st.integers(0, len(content) - 1))
    content[position] = data.draw(st.integers(0, 255))
    there = new()
    if tried(there, bytes(content)):
        assert exported(there) == exported(filled)


leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["", "\0", "\ud800", "0" * 64, BRIGHT.digest, "2020-01-01", "0001-01-01T00:00:00+14:00", "Base"]),
    st.just([]),
    st.just({}),
    st.lists(st.integers(), max_size=3),
)


def paths(value, before=()):
    """Yield the way to every value in a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, catalog in inside:
        yield (*before, key)
        yield from paths(catalog, (*before, key))


@st.composite
def changed(draw, lines):
    """A file of lines one of which is changed, removed, repeated or moved by somebody who knows the format."""
    number = draw(st.integers(0, len(lines) - 2))
    method = draw(st.sampled_from(["value", "remove", "twice", "swap", "drop key"]))
    if method in ("value", "drop key"):
        path = draw(st.sampled_from(list(paths(lines[number]))))
        place = lines[number]
        for key in path[:-1]:
            place = place[key]
        if method == "value":
            place[path[-1]] = draw(leaves)
        else:
            del place[path[-1]]
    elif number:
        other = draw(st.integers(1, len(lines) - 2))
        if method == "remove":
            del lines[number]
        elif method == "twice":
            lines.insert(number, lines[other])
        else:
            lines[number], lines[other] = lines[other], lines[number]
    return packed(lines, recount=draw(st.booleans()))


@settings(EXAMPLES, max_examples=40)
@given(data=st.data())
def test_whatever_somebody_writes_into_a_file_the_archive_stays_sound(data, filled, new):
    tried(new(), data.draw(changed(lines_of(exported(filled)))))


@pytest.mark.campaign
@settings(EXAMPLES, max_examples=1000)
@given(data=st.data())
def test_whatever_somebody_writes_into_a_file_the_archive_stays_sound_many_times(data, filled, new):
    with new() as there:
        tried(there, data.draw(changed(lines_of(exported(filled)))))
