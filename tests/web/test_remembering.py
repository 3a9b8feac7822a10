"""Answers in memory: the same as computed ones after any change, of one viewer alone, and never too many."""

import gc
import re
import shutil
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

import provenn
from provenn.archive.tokens import issue_token, list_tokens, revoke_token
from provenn.data import fragments, run_records
from provenn.data.planning_state import read_shown_state
from provenn.data.tallies import keep_tally
from provenn.database.platform import Platform
from provenn.database.tables import metadata
from provenn.errors import ProjectError, ProvennError
from provenn.people.tokens import record_token_use
from provenn.web import create_app, remembering
from provenn.web.pages import catalogs
from provenn.web.remembering import Remembering, ViewMemory
from provenn.web.serving import build_server_app
from tests.web.conftest import TestClient
from tests.web.team import HIDDEN, PEOPLE, serving_team

PAGES = (
    "/catalogs",
    "/catalogs?sort=name",
    "/catalogs?text=vmag",
    "/catalogs?attribute=vmag&unnamed=true",
    "/catalogs/bright",
    "/catalogs/bright/lineage",
    "/catalogs/bright/sets",
    "/compare?a=bright&b=faint&ask=bright+%3C%3D+stars",
)
EVERYWHERE = (*PAGES, "/knowledge", "/runs", "/target", "/quota", "/catalogs?text=secret", f"/catalogs/{HIDDEN}")
EVERYWHERE += (f"/compare?a={HIDDEN}&b=bright", "/bounds?ask=bright", "/tap/tables", "/catalogs/stars/lineage")


@pytest.fixture
def team(archive):
    with serving_team(archive) as opened:
        yield opened


@pytest.fixture
def computed(monkeypatch):
    """Count how often each view is computed."""
    counts = Counter()
    answer = ViewMemory.answer

    def count_views(self, archive, view, options, how):
        def counting(**given):
            counts[view.__name__] += 1
            return view(**given)

        counting.__name__, counting.__module__ = view.__name__, view.__module__
        return answer(self, archive, counting, options, how)

    monkeypatch.setattr(ViewMemory, "answer", count_views)
    return counts


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_computed_once_for_page_and_json_until_the_archive_changes(client, archive, computed, path):
    client.get(path)  # what a first look at data leaves is a change: observed facts, verified keys and tallies
    client.get(path)
    computed.clear()
    for _ in range(3):
        assert client.get(path).status_code == 200
        assert client.get(f"/api{path}").status_code == 200
    assert not computed
    archive["stars"].select("vmag < 3", name="fresh")
    for _ in range(3):
        client.get(path)
    assert set(computed.values()) == {1}


def test_only_the_first_look_at_a_catalog_leaves_something(client, archive):
    names = ("stars", "bright", "both", "rest", "tenth", "near", "far", "wide", "all")
    for name in names:
        client.get(f"/catalogs/{name}")
    archive["stars"].select("vmag < 3")  # so that each page is computed again
    written = []

    def note_write(_connection, _cursor, statement, *_rest):
        if (
            re.match(r"INSERT|UPDATE|DELETE", statement) and "file_hashes" not in statement
        ):  # files grow older meanwhile
            written.append(statement)

    event.listen(archive.context.database.engine, "before_cursor_execute", note_write)
    for name in names:
        assert client.get(f"/catalogs/{name}").status_code == 200
    assert not written


def test_the_first_look_at_a_catalog_leaves_other_pages_in_memory(client, archive, computed):
    """What a page tallied is written later, together with other notes; until then it is recalled from memory."""
    archive["faint"].count(engine="look")  # a look that counts is a change
    client.get("/catalogs/bright")
    client.get("/catalogs/bright")
    seen = client.get("/api/catalogs/faint").json()["data"]
    computed.clear()
    client.get("/catalogs/bright")
    assert not computed
    archive.declare("nonempty(bright)")
    assert client.get("/api/catalogs/faint").json()["data"] == seen
    assert computed


def test_notes_leave_pages_in_memory(team, computed):
    """A kept proof, a used token and a run that begins change no page; they are written all the time."""
    for path in PAGES:
        team.ask("ada", path)
        team.ask("ada", path)
    computed.clear()
    team.archive.prove("tenth <= stars")
    with team.archive.context.database.writing() as writing:
        run = run_records.begin_run(writing, "vmag of bright")
        run_records.end_run(writing, run, "failed", seconds=1.0)
        record_token_use(writing, list_tokens(team.archive)[0])
    for path in PAGES:
        team.ask("ada", path)
    assert not computed
    team.archive.declare("nonempty(near)", reason="a change")
    team.ask("ada", "/catalogs/bright")
    assert computed


def test_a_catalog_page_is_computed_again_when_something_was_tallied(client, archive, computed):
    client.get("/catalogs/bright")
    client.get("/catalogs/bright")
    computed.clear()
    with archive.context.database.writing() as writing:
        keep_tally(writing, archive["bright"].digest, "something else", {"n": 1})
    client.get("/catalogs/rest/lineage")
    client.get("/catalogs/bright")
    assert computed == {"show_lineage": 1, "show_catalog": 1}


_COVERED = {
    *("attributes", "audit", "bases", "calculators", "catalogs", "counts", "definers", "dependencies", "facts"),
    *("fragments", "members", "name_history", "names", "preferences", "verifications"),
}
"""The tables for which `read_shown_state` stands, besides what is written together with their rows."""

_WRITTEN_TOGETHER = {
    *("fact_bases", "fact_catalogs", "file_bounds", "fragment_attributes", "fragment_facts", "populations", "samples"),
    *("schemas", "wordings"),
}
_FOUND_AGAIN = {"proofs", "tallies"}
"""What a page would find again if it were not kept."""


@pytest.mark.parametrize("path", [*PAGES, "/catalogs/all", "/catalogs/far?depth=3", "/compare?a=near&b=faint&c=tenth"])
def test_a_page_reads_nothing_but_what_its_state_covers(team, path):
    """A new table in a query of a page must be covered by the state, or argued to be irrelevant, here."""
    read = set()

    def note_tables(_connection, _cursor, statement, *_rest):
        read.update(set(re.findall(r"\w+", statement)) & metadata.tables.keys())

    entering = {"downloads", "quotas", "settings", "tokens"}  # read to let somebody in
    event.listen(team.archive.context.database.engine, "before_cursor_execute", note_tables)
    for who in ("ada", "ben"):
        assert team.ask(who, path).status_code == 200
    assert "catalogs" in read
    assert read <= _COVERED | _WRITTEN_TOGETHER | _FOUND_AGAIN | entering | {"file_hashes", "leases"}


def test_changes_of_another_process_are_seen(client, archive):
    assert "elsewhere" not in client.get("/catalogs").text
    with provenn.open(database=archive.place, who="ben", progress=False) as other:
        other.name(other["bright"], "elsewhere")
        assert "elsewhere" in client.get("/catalogs").text
        assert "elsewhere" in client.get("/catalogs/bright").text


def test_a_list_is_not_computed_again_for_changes_that_it_does_not_show(client, archive, computed):
    client.get("/catalogs")
    archive.declare("nonempty(bright)")
    client.get("/catalogs")
    assert computed["list_catalogs"] == 1
    client.get("/catalogs?text=vmag")
    archive.declare("nonempty(faint)")
    client.get("/catalogs?text=vmag")
    assert computed["list_catalogs"] == 3, "texts may change without a trace"


def test_a_page_asks_the_database_in_one_transaction(client, archive):
    client.get("/catalogs/bright")
    begun = []
    event.listen(archive.context.database.engine, "begin", begun.append)
    archive["stars"].select("vmag < 3")
    before = len(begun)
    client.get("/catalogs/bright")
    assert len(begun) - before == 1


@pytest.mark.parametrize("path", PAGES)
def test_a_client_that_has_the_page_gets_it_again_only_after_a_change(client, archive, path):
    client.get(path)  # a first look at data leaves verified keys and tallies
    for address in (path, f"/api{path}"):
        page = client.get(address)
        again = client.get(address, headers={"If-None-Match": f'"other", {page.headers["etag"]}'})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == page.headers["etag"]
        assert "private" in page.headers["cache-control"]
    assert client.get(path).headers["etag"] != client.get(f"/api{path}").headers["etag"]
    page = client.get("/catalogs")
    archive.name(archive["bright"], "gleaming")
    assert client.get("/catalogs", headers={"If-None-Match": page.headers["etag"]}).status_code == 200


def test_an_error_has_no_identity_and_is_not_remembered(client):
    for path in ("/catalogs/nothing", "/compare?a=nothing&b=bright", "/compare?ask=("):
        for address in (path, f"/api{path}"):
            answer = client.get(address)
            assert answer.status_code >= 400
            assert "etag" not in answer.headers


def test_an_answer_is_not_taken_for_one_of_a_state_that_another_request_has_seen(archive, monkeypatch):
    """The archive changes between the beginnings of two requests, which both found it unchanged."""
    memory, early = ViewMemory(archive), []
    read_state = memory._read_state
    monkeypatch.setattr(memory, "_read_state", lambda: early.pop() if early else read_state())

    def list_names(archive):
        return list(archive)

    def list_again(archive):
        return list_names(archive)

    def ask_after_a_change():
        early.append(read_state())
        archive["stars"].select("vmag < 1", name="fresh")
        assert "fresh" in memory.answer(archive, list_again, {}, Remembering()).content

    def read_late(states, _options):
        if not memory._kept:
            thread = Thread(target=ask_after_a_change)
            thread.start()
            thread.join()
        return states.read(read_shown_state)

    late = Remembering(read_state=read_late)
    assert "fresh" not in memory.answer(archive, list_names, {}, late).content
    assert "fresh" in memory.answer(archive, list_names, {}, late).content


def test_an_answer_that_depends_on_the_platform_is_remembered_for_this_platform(archive):
    platforms = [Platform("17", "Linux amd64")]
    database = replace(archive.context.database, platform=lambda: platforms[-1])
    moving = provenn.Archive(replace(archive.context, database=database))
    memory, calls = ViewMemory(moving), []

    def ask(archive):
        calls.append(archive)
        with archive.context.database.reading() as reading:
            return str(reading.platform())

    def answer():
        return memory.answer(moving, ask, {}, Remembering()).content

    assert answer() == answer() == str(platforms[0])
    assert len(calls) == 1
    platforms.append(Platform("21", "Linux amd64"))
    assert answer() == answer() == str(platforms[1])
    assert len(calls) == 2


def test_an_answer_without_a_platform_asks_for_none(archive):
    """A worker has no platform, and would leave each question to the server."""
    database = replace(archive.context.database, platform=lambda: pytest.fail("the platform was asked for"))
    own = provenn.Archive(replace(archive.context, database=database))
    memory, calls = ViewMemory(archive), []

    def ask(archive):
        calls.append(archive)

    for _ in range(3):
        memory.answer(own, ask, {}, Remembering())
    assert len(calls) == 1


def test_an_answer_for_two_platforms_is_not_remembered(archive):
    platforms = [Platform(str(number)) for number in range(20)]
    database = replace(archive.context.database, platform=platforms.pop)
    moving = provenn.Archive(replace(archive.context, database=database))
    memory, calls = ViewMemory(moving), []

    def ask(archive):
        calls.append(archive)
        with archive.context.database.reading() as reading:
            return f"{reading.platform()} {reading.platform()}"

    for _ in range(3):
        memory.answer(moving, ask, {}, Remembering())
    assert len(calls) == 3


def test_news_of_files_come_after_some_seconds(client, archive, computed, monkeypatch):
    """Files are looked at every five seconds; a page is computed again only if they were written, came or went."""
    client.get("/catalogs/bright")  # the first look at data leaves what was observed
    computed.clear()
    clock = [100.0]
    monkeypatch.setattr(remembering, "monotonic", lambda: clock[0])
    file = Path(archive["stars"].definition.files.location)
    for seconds, touched, times in ((0, False, 1), (6, False, 1), (4, True, 1), (2, False, 2), (6, False, 2)):
        clock[0] += seconds
        if touched:
            file.touch()
        client.get("/catalogs/bright")
        assert computed["show_catalog"] == times


def test_the_memory_is_bounded(archive, monkeypatch):
    monkeypatch.setattr(remembering, "_MOST", 3)
    memory = ViewMemory(archive)
    view = catalogs.list_catalogs
    for page in range(1, 10):
        memory.answer(archive, view, {"page": page, "text": ""}, Remembering())
        assert len(memory) <= 3
    monkeypatch.setattr(remembering, "_MOST_CHARACTERS", 10)
    memory.answer(archive, view, {"page": 20, "text": ""}, Remembering())
    assert len(memory) == 0


# -- viewers ---------------------------------------------------------------------------------------------------------


def list_addresses(team):
    paths = [*EVERYWHERE, f"/catalogs/{team.hidden}", f"/catalogs/{team.hidden[:8]}"]
    return [address for path in paths for address in (path, f"/api{path}") if not address.startswith("/api/tap")]


def test_nobody_is_told_what_another_viewer_has_in_memory(team):
    """Neither by a page, its JSON, a search, a suggestion, an error, nor by the identity of an answer."""
    tags = {}
    seen = 0
    for address in list_addresses(team):
        answer = team.ask("ada", address)
        seen += HIDDEN in answer.text or team.hidden in answer.text
        tags[address] = answer.headers.get("etag")
    assert seen > 5, "there is something to hide"
    for who in ("ben", "cleo"):
        for address in list_addresses(team):
            tag = {"If-None-Match": tags[address]} if tags[address] else {}
            answer = team.ask(who, address, headers=tag)
            assert answer.status_code != 304, address
            text = (
                answer.text.replace(HIDDEN, "") if HIDDEN in address else answer.text
            )  # an error repeats the question
            assert HIDDEN not in text, address
            assert team.hidden not in text.replace(address.rpartition("/")[2], ""), address
            assert answer.headers.get("etag") in (None, answer.headers.get("etag")) != tags[address]


def test_what_becomes_private_leaves_the_memory_of_others(team):
    team.archive.name(team.archive["bright"], "shared for now")
    for who in PEOPLE:
        for address in list_addresses(team):
            team.ask(who, address)
    assert "shared for now" in team.ask("ben", "/catalogs").text
    team.archive.name(team.archive["bright"], "shared for now", visibility="private")
    for who in ("ben", "cleo"):
        for address in list_addresses(team):
            assert "shared for now" not in team.ask(who, address).text, (who, address)
    assert "shared for now" in team.ask("ada", "/catalogs").text


def test_two_sessions_of_a_person_have_pages_of_their_own(team):
    """A page contains the secret of its session: the identity of a page tells sessions apart."""
    team.log_in("ada")
    first = team.client.get("/catalogs")
    again = team.client.get("/catalogs", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    assert again.headers["cache-control"] == "no-store"
    team.log_in("ada")
    second = team.client.get("/catalogs", headers={"If-None-Match": first.headers["etag"]})
    assert second.status_code == 200
    assert second.headers["etag"] != first.headers["etag"]


def _leave(archive, who):
    with suppress(ProjectError):
        archive.remove_member("survey", who)


def _choose(facts, number):
    if not facts:
        raise LookupError("there is no fact")
    return facts[number % len(facts)]


def _write(archive, act):
    with archive.context.database.writing() as writing:
        act(writing)


def _write_stars(archive, number):
    file = Path(archive.place).parent / f"more {number}.parquet"
    pq.write_table(pa.table({"hip": [100 + number], "vmag": [1.0 * number], "plx": [5.0], "spect": ["B"]}), file)
    return file


def _act_elsewhere(archive, number):
    with provenn.open(database=archive.place, who="ben", progress=False, notify=False) as other:
        other.name(other["stars"].select(f"vmag > {number}"), f"elsewhere {number % 2}", move=True)


CHANGES = {
    "define": lambda archive, n: archive["stars"].select(f"vmag < {n}"),
    "name": lambda archive, n: archive.name(archive["stars"].select(f"vmag < {n}"), f"name {n % 3}"),
    "hide": lambda archive, n: archive.name(archive["faint"], f"hidden {n % 3}", visibility="private"),
    "show": lambda archive, n: archive.name(archive["faint"], f"hidden {n % 3}", visibility="public"),
    "join": lambda archive, n: archive.add_member("survey", ("ben", "cleo")[n % 2]),
    "leave": lambda archive, n: _leave(archive, ("ben", "cleo")[n % 2]),
    "project": lambda archive, n: archive.name(
        archive["both"], f"of all {n % 3}", visibility="project", project="survey"
    ),
    "declare": lambda archive, n: archive.declare("disjoint(bright, faint)", reason=f"{n}"),
    "declare privately": lambda archive, n: archive.declare(
        "overlapping(tenth, near)", reason=f"{n}", visibility="private"
    ),
    "retract": lambda archive, n: archive.retract(_choose(archive.facts(), n).id),
    "observe": lambda archive, n: archive[("stars", "bright", "tenth")[n % 3]].count(),
    "move a name": lambda archive, n: archive.name(
        archive[("both", "rest", "near")[n % 3]], ("bright", "faint")[n % 2], move=True, visibility="public"
    ),
    "delete a name": lambda archive, n: archive.delete_name(("faint", "naked eye", "both")[n % 3]),
    "redefine": lambda archive, n: archive.redefine("bright", where=f"vmag < {n}"),
    "clean": lambda archive, _: archive.collect_garbage(limit=0),
    "use a fragment": lambda archive, _: _write(archive, lambda writing: fragments.record_use(writing, [1])),
    "drop a fragment": lambda archive, n: _write(archive, lambda w: fragments.drop(w, number=1, reason=f"{n}")),
    "run": lambda archive, n: _write(archive, lambda writing: run_records.begin_run(writing, f"run {n}")),
    "prove": lambda archive, n: archive.prove(("bright <= stars", "disjoint(bright, rest)", "both <= tenth")[n % 3]),
    "tally": lambda archive, n: _write(archive, lambda w: keep_tally(w, archive["bright"].digest, f"{n}", {})),
    "prefer": lambda archive, n: archive.prefer("near", ("near", "far")[n % 2]),
    "issue a token": lambda archive, n: issue_token(archive, "ben", ("reader", "admin")[n % 2]),
    "revoke a token": lambda archive, _: revoke_token(archive, issue_token(archive, "ben", "reader")[0].number),
    "default visibility": lambda archive, n: setattr(archive, "default_visibility", ("private", "public")[n % 2]),
    "append": lambda archive, n: archive.append("stars", _write_stars(archive, n)),
    "refresh": lambda archive, _: archive.refresh(),
    "another process": _act_elsewhere,
    "define as ben": lambda archive, n: archive.as_seen_by("ben")["stars"].select(f"plx < {n}", name=f"of ben {n % 3}"),
}


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(0, 9)), min_size=1, max_size=6))
def test_after_any_changes_everybody_sees_what_a_new_server_shows(made, tmp_path, changes):
    folder = tmp_path / f"survey {len(list(tmp_path.iterdir()))}"
    shutil.copytree(made, folder)
    with ExitStack() as stack:
        archive = stack.enter_context(provenn.open(folder, who="ada", progress=False, notify=False))
        archive.new_project("survey")
        team = stack.enter_context(serving_team(archive))
        kept = {}
        for change, number in changes:
            with suppress(ProvennError, LookupError):
                CHANGES[change](archive, number)
            asked = [(who, address) for who in team.secrets for path in PAGES for address in (path, f"/api{path}")]
            for who, address in asked:  # as a browser does that keeps pages
                tag, page = kept.get((who, address), ("", ""))
                answer = team.ask(who, address, headers={"If-None-Match": tag} if tag else {})
                text = page if answer.status_code == 304 else answer.text
                kept[who, address] = answer.headers.get("etag"), text
            fresh = stack.enter_context(provenn.open(folder, who="ada", progress=False, notify=False))
            with TestClient(build_server_app(fresh, tokens=True), base_url="http://127.0.0.1") as client:
                for who, address in asked:
                    expected = client.get(address, headers={"Authorization": f"Bearer {team.secrets[who]}"})
                    assert kept[who, address][1] == expected.text, (who, address, change)


def test_a_server_that_ends_forgets(archive):
    app = create_app(archive)
    with TestClient(app, base_url="http://127.0.0.1") as browser:
        browser.get("/catalogs")
        assert len(app.state.memory) == 1
    assert len(app.state.memory) == 0


def test_nothing_is_left_of_requests_but_a_bounded_number_of_answers(team, monkeypatch):
    """However many different pages are asked for: the memory of a server stays flat."""
    monkeypatch.setattr(remembering, "_MOST", 10)

    def ask_for_pages(start, number):
        for page in range(start, start + number):
            for who in ("ada", "ben"):
                team.ask(who, f"/api/catalogs?page={page + 1}&text=v")
                team.ask(who, f"/catalogs/bright/lineage?most={page + 1}")
                team.ask(who, f"/catalogs/nothing{page}")

    def count_objects():
        gc.collect()
        counts = Counter(type(item).__name__ for item in gc.get_objects())
        return {name: counts[name] for name in ("ViewAnswer", "_Kept", "Question", "Request", "Reading", "LineagePage")}

    others = count_objects()  # of servers for other tests
    ask_for_pages(0, 10)
    before = count_objects()
    assert before["_Kept"] - others["_Kept"] == 10
    ask_for_pages(10, 30)
    after = count_objects()
    assert all(after[name] <= before[name] + 5 for name in before), (before, after)
