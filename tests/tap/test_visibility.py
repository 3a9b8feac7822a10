"""Tokens and visibility: strangers learn nothing of private catalogs, readers compute nothing, jobs are one's own."""

from base64 import b64encode
from collections.abc import Iterator

import pytest

import provenn
from tests.tap.conftest import NUMBER, fill_archive
from tests.tap.test_sync import error_of
from tests.waiting import wait_until
from tests.web.team import HIDDEN, Team, serving_team

SCHEMA = "SELECT table_name, description FROM TAP_SCHEMA.tables"


@pytest.fixture(scope="module")
def team(engine, tmp_path_factory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("team") / "survey"
    master = engine.session.sparkContext.master
    with provenn.open(folder, who="ada", progress=False, notify=False, spark=master) as archive:
        fill_archive(archive)
        with serving_team(archive) as served:
            yield served


def ask(team: Team, who: str | None, query: str, **parameters: str):
    data = {"LANG": "ADQL", "QUERY": query, "RESPONSEFORMAT": "csv", **parameters}
    return team.ask(who, "/tap/sync", "POST", data=data)


def test_a_private_catalog_is_hidden_from_strangers(team):
    quoted = f'"{HIDDEN}"'
    assert HIDDEN in ask(team, "ada", SCHEMA).text
    assert HIDDEN not in ask(team, "ben", SCHEMA).text
    assert HIDDEN not in team.ask("ben", "/tap/tables").text
    assert HIDDEN not in team.ask("ben", "/tap/examples").text
    hidden = error_of(ask(team, "ben", f"SELECT hip FROM {quoted}")).replace(HIDDEN, "NAME")  # noqa: S608 - a name
    absent = error_of(ask(team, "ben", 'SELECT hip FROM "top sacred"')).replace("top sacred", "NAME")
    assert hidden == absent, "an error does not tell that it exists"
    for path in (f"/scs/{HIDDEN}?RA=1&DEC=1&SR=1", f"/tap/tables/{HIDDEN}", f"/datalink/provenance?ID={team.hidden}"):
        assert team.ask("ben", path).status_code == 404
    links = team.ask("ben", f"/datalink/links?ID={team.hidden}").text
    assert "NotFoundFault" in links
    assert "/catalogs/" not in links
    assert ask(team, "ada", f"SELECT COUNT(*) AS n FROM {quoted}").status_code == 200  # noqa: S608 - a name


def test_without_a_token_nothing_is_answered(team):
    for path in ("/tap/capabilities", "/tap/tables", "/tap/sync", "/tap/async", "/scs/stars", "/datalink/links"):
        answer = team.ask(None, path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Basic")
        assert "valid token" in error_of(answer)


def test_a_token_is_a_password_for_clients_of_the_observatory(team):
    def give(name: str, secret: str) -> dict[str, str]:
        return {"Authorization": f"Basic {b64encode(f'{name}:{secret}'.encode()).decode()}"}

    good = give("ben", team.secrets["ben"])
    team.client.cookies.clear()
    assert team.client.get("/tap/tables", headers=good).status_code == 200
    assert team.client.get("/catalogs", headers=good).status_code == 401, "pages are for tokens and sessions"
    assert team.client.get("/tap/tables", headers=give("ben", "wrong")).status_code == 401
    assert team.client.get("/tap/tables", headers={"Authorization": "Basic %%%"}).status_code == 401


def test_a_reader_asks_for_metadata_and_computes_nothing(team):
    assert ask(team, "cleo", SCHEMA).status_code == 200
    answer = ask(team, "cleo", "SELECT hip FROM stars")
    assert answer.status_code == 403
    assert "role author" in error_of(answer)
    assert team.ask("cleo", "/scs/stars?RA=1&DEC=1&SR=1").status_code == 403
    data = {"LANG": "ADQL", "QUERY": "SELECT hip FROM stars", "PHASE": "RUN"}
    assert team.ask("cleo", "/tap/async", "POST", data=data).status_code == 403
    assert ask(team, "ben", "SELECT COUNT(*) AS n FROM stars").text.split() == ["n", str(NUMBER)]
    assert ask(team, "cleo", "SELECT COUNT(*) AS n FROM stars").text.split() == ["n", str(NUMBER)]
    assert team.ask("cleo", "/target/run", "POST", data={}).status_code == 403, "elsewhere nothing has changed"


def test_jobs_belong_to_their_owners(team):
    data = {"LANG": "ADQL", "QUERY": "SELECT TOP 2 hip FROM stars", "PHASE": "RUN"}
    job = team.ask("ben", "/tap/async", "POST", data=data).headers["location"].removeprefix("http://127.0.0.1")
    wait_until(lambda: team.ask("ben", f"{job}/phase").text in ("COMPLETED", "ERROR"), "the job ends")
    assert team.ask("ben", f"{job}/error").status_code == 404, team.ask("ben", f"{job}/error").text
    assert team.ask("ben", f"{job}/owner").text == "ben"
    assert job.rpartition("/")[2] in team.ask("ben", "/tap/async").text
    for path in (job, f"{job}/phase", f"{job}/results/result", f"{job}/plan"):
        assert team.ask("ada", path).status_code == 404
    assert team.ask("ada", job, "DELETE").status_code == 404
    assert job.rpartition("/")[2] not in team.ask("ada", "/tap/async").text


def test_a_form_of_another_site_is_refused(team):
    answer = team.ask("ben", "/tap/sync", "POST", data={"QUERY": "x"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    team.log_in("ben")
    assert team.client.post("/tap/sync", data={"LANG": "ADQL", "QUERY": SCHEMA}).status_code == 403, "no secret"


def test_an_upload_is_read_beside_the_folders_of_the_server(team):
    table = (
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE><FIELD name="hip" '
        'datatype="long"/><DATA><TABLEDATA><TR><TD>5</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>'
    )
    query = "SELECT u.hip FROM TAP_UPLOAD.mine AS u"
    data = {"LANG": "ADQL", "QUERY": query, "UPLOAD": "mine,param:t", "RESPONSEFORMAT": "csv"}
    answer = team.ask("ben", "/tap/sync", "POST", data=data, files={"t": ("t", table)})
    assert answer.text.split() == ["hip", "5"], answer.text
