"""A verb that is called without a needed argument, or with an unknown one, says what to pass."""

import inspect
import io

import pandas as pd
import pyarrow as pa
import pytest

import provenn
from provenn.archive import call_mistakes, proved_answers
from provenn.errors import ArgumentsError, ProvennError
from tests.archive.samples import write_parquet


def list_needed(cls):
    """Return the public methods of a class, each with its arguments that have no default."""
    needed = {}
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        if inspect.isfunction(member) and not name.startswith("_"):
            needed[name] = call_mistakes._list_needed(inspect.signature(member))[1:]
    return {name: arguments for name, arguments in needed.items() if arguments}


def test_ingest_without_a_key_names_the_columns_that_could_be_one(archive, tmp_path):
    """The hint is the next try: it names a column, and the way without any."""
    path = write_parquet(tmp_path / "stars.parquet")
    with pytest.raises(ArgumentsError, match=r"ingest\(\) needs key\b") as raised:
        archive.ingest("stars", path, population="star")
    assert 'pass key="hip"' in raised.value.hint
    assert "key=None" in raised.value.hint
    assert "vmag" not in raised.value.hint, "a magnitude identifies nothing"
    assert isinstance(raised.value, TypeError)
    assert archive.search("stars") == []
    assert archive.ingest("stars", path, key="hip", population="star").name == "stars"


def test_ingest_of_a_table_names_its_columns(archive):
    """A table in memory has columns as well, and identifiers come first."""
    table = pa.table({"band": ["g"], "flux": [1.0], "objid": [5]})
    with pytest.raises(ArgumentsError) as raised:
        archive.ingest("rows", table, population="star")
    assert 'pass key="objid"' in raised.value.hint
    assert "could be a key: objid, band" in raised.value.hint


def test_ingest_without_anything_names_all_that_is_missing(stars):
    """Missing files do not hide the missing arguments; populations that exist are named."""
    with pytest.raises(ArgumentsError, match=r"needs key and population") as raised:
        stars.archive.ingest("new", "/nowhere.parquet")
    assert "pass key: the columns that identify a source" in raised.value.hint
    assert "pass population: the kind of object in a row: star, galaxy, visit; this archive has star" in (
        raised.value.hint
    )


def test_references_name_the_attributes(stars):
    """`on` belongs to this catalog in a lookup, and to the other catalog in having and without."""
    other = stars.keep("plx", name="other")
    with pytest.raises(ArgumentsError, match=r"lookup\(\) needs on") as raised:
        stars.lookup("other")
    assert f"there are {', '.join(stars.attributes[:3])}" in raised.value.hint
    for verb in (stars.having, stars.without):
        with pytest.raises(ArgumentsError, match="needs on") as raised:
            verb(other)
        assert f"there are {', '.join(other.attributes)}" in raised.value.hint


@pytest.mark.parametrize("verb", list_needed(provenn.Archive))
def test_every_verb_of_an_archive_says_what_it_needs(archive, verb):
    """No public method answers a call without arguments with a raw error of Python."""
    check_bare_call(archive, verb, list_needed(provenn.Archive)[verb])


@pytest.mark.parametrize("verb", list_needed(provenn.Catalog))
def test_every_verb_of_a_catalog_says_what_it_needs(stars, verb):
    """No public method answers a call without arguments with a raw error of Python."""
    check_bare_call(stars, verb, list_needed(provenn.Catalog)[verb])


def check_bare_call(holder, verb, needed):
    with pytest.raises(ArgumentsError) as raised:
        getattr(holder, verb)()
    assert raised.value.message == f"{verb}() needs {' and '.join(needed)}"
    assert raised.value.hint.count("pass ") >= len(needed)
    assert "see help()" not in raised.value.hint


def test_an_unknown_argument_leads_to_the_known_one(archive, stars, tmp_path):
    """A keyword with a slip is answered with the nearest, or with all."""
    with pytest.raises(ArgumentsError, match=r"has no argument keys") as raised:
        archive.ingest("s", tmp_path, keys="hip", population="star")
    assert raised.value.hint == "did you mean key?"
    with pytest.raises(ArgumentsError, match=r"sample\(\) has no argument random_state") as raised:
        stars.sample(0.5, random_state=1)
    assert raised.value.hint == "its arguments are fraction, seed, name"
    with pytest.raises(ArgumentsError, match=r"select\(\) has no place for 'bright'") as raised:
        stars.select("vmag < 6", "bright")
    assert "name=…" in raised.value.hint
    with pytest.raises(ArgumentsError, match=r"sample\(\) got fraction twice"):
        stars.sample(0.5, fraction=0.5)


def test_errors_inside_a_verb_stay_as_they_are(stars, monkeypatch):
    """Only the call is explained: a mistake further in is not taken for one."""

    def fail(*_):
        raise TypeError("inside")

    monkeypatch.setattr("provenn.archive.handle.verbs.sample", fail)
    with pytest.raises(TypeError, match="inside") as raised:
        stars.sample(0.5)
    assert not isinstance(raised.value, ProvennError)


def test_signatures_and_docs_stay(stars):
    """Notebooks and documentation see the verbs as they are written."""
    assert list(inspect.signature(stars.sample).parameters) == ["fraction", "seed", "name"]
    assert "random fraction" in stars.sample.__doc__


TABLE = pa.table({"hip": [1]})
FRAME = pd.DataFrame({"hip": [1]})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda archive: archive[3], "catalog() cannot use 3 as which"),
        (lambda archive: archive.ingest("x", TABLE, key=3, population="star"), "cannot use 3 as key"),
        (lambda archive: archive.target(sources=3, attributes=["hip"]), "target() cannot use 3 as sources"),
        (lambda archive: archive.target(sources="stars", attributes=3), "target() cannot use 3 as attributes"),
        (lambda archive: archive.relate("stars", 3), "relate() cannot use 3 as right"),
        (lambda archive: archive.prove(3), "prove() cannot use 3 as question"),
        (lambda archive: archive.declare(["A"]), "declare() cannot use ['A'] as "),
        (lambda archive: archive["stars"].concat(3), "concat() cannot use 3 as others"),
        (lambda archive: archive["stars"].crossmatch(3, "1 arcsec"), "crossmatch() cannot use 3 as other"),
        (lambda archive: archive.sql(3, name="x"), "sql() cannot use 3 as "),
        (lambda archive: archive["stars"].combine(FRAME), "combine() cannot use an object of type DataFrame as others"),
        (lambda archive: archive["stars"].sky(FRAME), "sky() cannot use an object of type DataFrame as others"),
        (lambda archive: archive.relate("stars", FRAME), "relate() cannot use an object of type DataFrame as right"),
        (lambda archive: archive["stars"].to_pandas(limit=FRAME), "cannot use an object of type DataFrame as limit"),
        (lambda archive: archive["stars"].to_pandas(limit=""), "cannot use '' as limit"),
        (lambda archive: archive["stars"].write(FRAME), "write() cannot use an object of type DataFrame as path"),
        (lambda archive: archive["stars"].write("a\0b.csv"), "write() cannot use 'a\\x00b.csv' as path"),
        (lambda archive: archive["stars"].write("a.csv", format=str), "write() cannot use the class str as format"),
        (
            lambda archive: archive["stars"].rename(FRAME),
            "rename() cannot use an object of type DataFrame as attributes",
        ),
        (lambda archive: archive["stars"].restrict(b"x"), "restrict() cannot use b'x' as other"),
        (lambda archive: archive.calculator("d", sql="1000 / plx"), "calculator() cannot use '1000 / plx' as sql"),
        (lambda archive: archive.prove("stars <= stars", given=[None]), "prove() cannot use [None] as given"),
        (lambda archive: archive.bounds(FRAME), "bounds() cannot use an object of type DataFrame as which"),
        (lambda archive: archive.bounds(str), "bounds() cannot use the class str as which"),
        (lambda archive: archive.adopt(FRAME, "x", keys=FRAME), "cannot use an object of type DataFrame as keys"),
        (lambda archive: archive.search(sort=FRAME), "cannot use an object of type DataFrame as sort"),
        (lambda archive: archive.sql("SELECT 1", schemas=pd.Series([1])), "an object of type Series as schemas"),
        (lambda archive: archive.calculator("d", sql={"d": 1}), "cannot use {'d': 1} as sql"),
        (lambda archive: archive.catalogs({1: 2}), "catalogs() cannot use {1: 2} as which"),
        (lambda archive: archive.define_many([1]), "define_many() cannot use [1] as steps"),
        (lambda archive: archive.ingest("x", "x.parquet", format=FRAME), "ingest() needs key and population"),
        (lambda archive: archive.export_definitions(None), "export_definitions() cannot use None as file"),
        (lambda archive: archive.import_definitions(io.StringIO()), "expected a path or a file of bytes"),
        (lambda archive: archive.concatenate(archive["stars"]), "cannot use an object of type Catalog as members"),
        (lambda archive: archive.define_many(archive["stars"]), "cannot use an object of type Catalog as steps"),
        (lambda archive: archive.import_definitions(archive["stars"]), "an object of type Catalog as file"),
        (lambda archive: archive.define("stars"), "define() cannot use 'stars' as definition"),
        (lambda archive: archive.retract(1, reason=None), "expected the reason as text, got None"),
        (lambda archive: archive.declare("stars == stars", reason=None), "expected the reason as text, got None"),
        (lambda archive: archive.runs(most=-1), "expected a number of runs, got -1"),
    ],
)
def test_an_argument_of_an_unusable_type_is_named(stars, call, says):
    """Where Python would raise an error from deep inside, the verb names the argument and says what to pass."""
    with pytest.raises(ArgumentsError) as raised:
        call(stars.archive)
    assert says in str(raised.value)
    assert raised.value.hint


def test_a_table_or_a_target_in_the_place_of_a_catalog_is_led_to_one(stars):
    """What people have at hand is not refused only: the hint says how it becomes a catalog."""
    with pytest.raises(ArgumentsError) as raised:
        stars.combine(FRAME)
    assert "make a catalog of a table first: archive.ingest(name, table" in raised.value.hint
    with pytest.raises(ArgumentsError) as raised:
        stars.combine(stars.archive.target(sources=stars, attributes=["vmag"]))
    assert "target.catalog()" in raised.value.hint


def test_what_is_opened_is_a_folder():
    """`open` is no method of an archive, and says the same."""
    with pytest.raises(ArgumentsError, match=r"open\(\) cannot use 3 as path"):
        provenn.open(3)
    with pytest.raises(ArgumentsError, match=r"open\(\) has no argument creat\ndid you mean create"):
        provenn.open("survey", creat=False)


def test_a_list_in_the_place_of_several_arguments_is_passed_one_by_one(stars):
    """What comes from a variable is often a list."""
    with pytest.raises(ArgumentsError, match=r"one by one: \*which"):
        stars.archive.compare(["stars", "stars"])


def test_an_error_inside_a_verb_that_was_called_rightly_stays(stars, monkeypatch):
    """A bug is no mistake of the user: its own error is shown."""
    monkeypatch.setattr(proved_answers, "ask_relation", lambda *_, **__: None.nothing)
    with pytest.raises(AttributeError, match="nothing"):
        stars.archive.relate("stars", "stars")
