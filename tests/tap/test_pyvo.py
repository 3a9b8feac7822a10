"""pyvo is a client of the service: sync, async, uploads, tables, examples, cone search and links; DuckDB agrees."""

import gc
import warnings
from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import pyvo
from astropy.coordinates import SkyCoord
from astropy.table import Table
from pyvo.dal.adhoc import DatalinkResults
from pyvo.utils.http import create_session
from requests import Session

from tests.tap.conftest import make_stars

pytestmark = pytest.mark.filterwarnings("ignore")  # of pyvo about its own dependencies


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """What pyvo speaks with; whatever connections pyvo forgets are closed before other tests run."""
    with create_session() as opened:
        yield opened
    with warnings.catch_warnings(action="ignore"):
        gc.collect()


@pytest.fixture(scope="module")
def service(address, session) -> pyvo.dal.TAPService:
    return pyvo.dal.TAPService(address, session=session)


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    stars = make_stars().to_pandas()
    with duckdb.connect() as connection:
        connection.register("stars", pa.Table.from_pandas(stars, preserve_index=False))
        yield connection


def rows_of(table: Table) -> list[tuple]:
    return sorted(tuple(None if value is np.ma.masked else value for value in row) for row in table.iterrows())


@pytest.mark.parametrize(
    "query",
    [
        "SELECT hip, spect FROM stars WHERE vmag < 6",
        "SELECT hip FROM stars WHERE vmag BETWEEN 5 AND 7 AND spect LIKE 'G%'",
        "SELECT hip FROM stars WHERE vmag IS NULL OR hip IN (3, 5)",
        "SELECT is_double, COUNT(*) AS n, MIN(hip) AS lowest FROM stars GROUP BY is_double",
        "SELECT hip, 2 * hip AS twice FROM stars WHERE NOT (hip > 20)",
    ],
)
def test_answers_equal_those_of_duckdb(service, database, query):
    expected = sorted(tuple(row) for row in database.execute(query).fetchall())
    assert rows_of(service.run_sync(query).to_table()) == expected


def test_an_order_and_a_limit_are_those_of_the_query(service, database):
    answer = service.run_sync("SELECT TOP 7 hip FROM stars WHERE vmag IS NOT NULL ORDER BY vmag DESC").to_table()
    expected = database.execute("SELECT hip FROM stars WHERE vmag IS NOT NULL ORDER BY vmag DESC LIMIT 7").fetchall()
    assert [int(hip) for hip in answer["hip"]] == [hip for (hip,) in expected]


@pytest.mark.parametrize("order", ["vmag + hip", "vmag, hip DESC", "spect, 2 * hip DESC", "is_double DESC, 1"])
def test_rows_are_sorted_by_anything(service, database, order):
    query = f"SELECT hip FROM stars WHERE vmag IS NOT NULL ORDER BY {order}"  # noqa: S608 - our own
    answer = service.run_sync(query).to_table()
    assert [int(hip) for hip in answer["hip"]] == [hip for (hip,) in database.execute(query).fetchall()]


def test_columns_have_their_metadata(service):
    answer = service.run_sync("SELECT TOP 1 hip, vmag, ra FROM stars")
    field = answer.getdesc("vmag")
    assert (str(field.unit), field.description, field.datatype) == ("mag", "magnitude in V", "float")
    assert answer.getdesc("ra").ucd == "pos.eq.ra"


def test_tables_and_columns_are_listed(service):
    tables = service.tables
    assert {"stars", "bright", '"bright stars"', '"order"', "TAP_SCHEMA.columns"} <= set(tables.keys())
    columns = {column.name: column for column in tables["stars"].columns}
    assert columns["vmag"].unit == "mag"
    (key,) = tables["identified"].foreignkeys
    assert (key.targettable, key.fkcolumns[0].fromcolumn, key.fkcolumns[0].targetcolumn) == ("stars", "hip", "hip")


def test_a_job_runs_and_gives_its_answer_and_its_plan(service):
    job = service.submit_job("SELECT hip FROM bright WHERE ra < 180", runid="mine")
    assert job.phase == "PENDING"
    job.run()
    job.wait(timeout=600)
    job.raise_if_error()
    expected = service.run_sync("SELECT hip FROM stars WHERE vmag < 6 AND ra < 180").to_table()
    assert rows_of(job.fetch_result().to_table()) == rows_of(expected)
    plan = service._session.get(f"{job.url}/plan").text
    assert "bright" in plan
    job.delete()
    with pytest.raises(pyvo.dal.DALServiceError):
        _ = job.phase


def test_a_failed_job_says_why(service):
    job = service.submit_job("SELECT nope FROM stars")
    job.run()
    job.wait(phases=["ERROR"], timeout=600)
    with pytest.raises(pyvo.dal.DALQueryError, match="there is no column nope, at line 1, column 8"):
        job.raise_if_error()


def test_an_uploaded_table_is_joined_and_leaves_nothing(service, archive):
    before = len(archive)
    mine = Table({"hip": [3, 1, 3, 99999], "name": ["c", "a", "c2", "none"]})
    query = "SELECT u.name, s.hip FROM TAP_UPLOAD.mine AS u JOIN stars AS s ON s.hip = u.hip"
    answer = service.run_sync(query, uploads={"mine": mine}).to_table()
    assert rows_of(answer) == [("a", 1), ("c", 3), ("c2", 3)]
    star = service.run_sync("SELECT * FROM TAP_UPLOAD.mine", uploads={"mine": mine}).to_table()
    assert star.colnames == ["hip", "name"]
    assert rows_of(star) == sorted(zip(mine["hip"], mine["name"], strict=True))
    assert len(archive) == before, "nothing of an uploaded table is kept"


def test_more_rows_than_wanted_are_an_overflow(service):
    answer = service.run_sync("SELECT hip FROM stars", maxrec=5)
    assert (len(answer), answer.query_status) == (5, "OVERFLOW")
    assert service.run_sync("SELECT hip FROM stars", maxrec=10_000).query_status == "OK"


def test_examples_can_be_run(service):
    examples = list(service.examples)
    assert len(examples) >= 4
    for example in examples:
        example.execute()


def test_a_cone_search_finds_what_lies_within_the_radius(address, session):
    stars = make_stars()
    search = pyvo.dal.SCSService(address.removesuffix("tap") + "scs/stars", session=session)
    centre = SkyCoord(stars["ra"][10], stars["dec"][10], unit="deg")
    answer = search.search(centre, radius=15.0)
    near = SkyCoord(stars["ra"], stars["dec"]).separation(centre).deg <= 15
    assert sorted(int(row["hip"]) for row in answer) == sorted(int(hip) for hip in stars["hip"][near])
    assert answer[0].pos.separation(centre).deg <= 15
    assert int(answer[0].id) in stars["hip"]


def test_rows_lead_to_the_lineage_of_their_catalog(service):
    answer = service.run_sync("SELECT TOP 2 * FROM bright")
    (resource,) = [part for part in answer.votable.resources if part.utype == "adhoc:service"]
    parameters = {param.name: param.value for param in [*resource.params, *resource.groups[0].entries]}
    links = DatalinkResults.from_result_url(f"{parameters['accessURL']}?ID={parameters['ID']}")
    by_kind = {str(link.semantics): link.access_url for link in links if "provenance" in link.access_url}
    provenance = service._session.get(by_kind["#progenitor"]).json()
    assert "entity" in provenance
    assert [link.access_url for link in answer[0].getdatalink()] == [link.access_url for link in links]
