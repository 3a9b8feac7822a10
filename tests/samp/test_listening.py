"""The pull side: a client asks for attributes of sources, and has the table."""

import signal
import threading
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

import provenn
from provenn import cli
from provenn.errors import SampError
from provenn.samp import clients, listen, pull
from provenn.samp.hubs import connect_to_hub, find_clients, request_answer
from tests.samp import processes
from tests.waiting import LIMIT


@contextmanager
def listening(archive, hub):
    """A provenn that listens, in a thread; ended by an interrupt as of Ctrl-C, at its next request."""
    ready, pulled = threading.Event(), []

    def told(item):
        pulled.append(item)
        if "stop" in item.asked:
            raise KeyboardInterrupt

    def run():
        with pytest.raises(KeyboardInterrupt):
            listen(archive, hub=hub, ready=lambda _: ready.set(), told=told)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        assert ready.wait(LIMIT)
        yield pulled
    finally:
        with pytest.raises(SampError):
            pull("stop", hub=hub, timeout=LIMIT)
        thread.join(LIMIT)
        assert not thread.is_alive()
    assert "provenn" not in {client.name for client in clients(hub)}, "it has left the hub"


def test_attributes_of_sources_are_pulled_as_a_table(survey: provenn.Archive, hub):
    with listening(survey, hub) as pulled:
        table = pull("stars", "plx > 4", ["vmag"])
        assert table.colnames == ["hip", "vmag"]
        assert dict(zip(table["hip"].tolist(), table["vmag"].tolist(), strict=True)) == {
            1: -1.44,
            2: 0.03,
            3: 4.5,
            4: 5.9,
        }
        assert (str(table["vmag"].unit), table["vmag"].meta["ucd"]) == ("mag", "phot.mag;em.opt.V")
        assert pull("bright").colnames == ["hip", "vmag", "plx", "name"], "all there is"
        assert len(pull("bright", "plx > 20")) == 2
        assert len(pull("bright", "plx > 1000")) == 0
        missing = pull("stars", "hip = 6", ["vmag"])
        assert missing["vmag"].mask.tolist() == [True]
        assert [item.rows for item in pulled] == [4, 4, 2, 0, 1]


def test_attributes_may_be_a_text_with_commas_and_the_answer_says_what_is_in_the_table(survey: provenn.Archive, hub):
    with listening(survey, hub), connect_to_hub("other tool", hub) as client:
        [first] = find_clients(client, "catalog.pull")
        request = {"start_catalog": "bright", "query": "", "attributes": "plx, stars.name AS `called, so`, name"}
        answer = request_answer(client, first, "catalog.pull", LIMIT, request)
        assert answer["samp.status"] == "samp.ok"
        result = answer["samp.result"]
        columns = ["hip", "plx", "called, so", "name"]
        assert result["url"].startswith("file:///")
        assert (result["rows"], result["attributes"], result["format"]) == ("4", columns, "votable")
        assert result["table-id"].startswith("provenn:")


@pytest.mark.parametrize(
    ("request_", "output"),
    [
        ({"start_catalog": "brigt"}, "no catalog is named 'brigt'"),
        ({"start_catalog": "bright", "query": "vmga < 3"}, "vmga"),
        ({"start_catalog": "bright", "query": "DROP TABLE x"}, ""),
        ({"start_catalog": "bright", "attributes": ["nothing"]}, "nothing"),
        ({"start_catalog": ""}, "catalog.pull needs a start_catalog"),
        ({}, "catalog.pull needs a start_catalog"),
        ({"start_catalog": ["bright"]}, "start_catalog and query are texts"),
        ({"start_catalog": "bright", "attributes": [["vmag"]]}, "attributes a list of texts"),
    ],
)
def test_bad_requests_are_refused_with_the_reason_and_the_next_is_answered(survey, hub, request_, output):
    with listening(survey, hub) as pulled, connect_to_hub("other tool", hub) as client:
        [first] = find_clients(client, "catalog.pull")
        answer = request_answer(client, first, "catalog.pull", LIMIT, request_)
        assert answer["samp.status"] == "samp.error"
        assert output in answer["samp.error"]["samp.errortxt"]
        assert answer["samp.error"]["samp.code"].endswith("Error")
    assert pulled[0].problem is not None


def test_an_error_has_its_hint_where_it_was_asked(survey: provenn.Archive, hub):
    with listening(survey, hub), pytest.raises(SampError, match="no catalog is named 'brigt'") as refused:
        pull("brigt")
    assert refused.value.hint == "did you mean bright?"


def test_nobody_listens(hub):
    with pytest.raises(SampError, match=r"no client on the hub accepts catalog\.pull"):
        pull("stars", hub=hub)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_command_leaves_the_hub_when_it_is_ended(folder, hub, how):
    with processes.provenn("samp", "listen", "--archive", str(folder)) as (process, message):
        assert message["mtype"] == "catalog.pull"
        assert message["client"] in {client.id for client in clients(hub)}
        assert processes.ended(process, how) == 130
    assert message["client"] not in {client.id for client in clients(hub)}


@pytest.mark.parametrize(("how", "status"), [(signal.SIGINT, 0), (signal.SIGKILL, 2)])
def test_whoever_listens_notices_that_the_hub_ends_or_dies(folder, tmp_path, how, status):
    lock = str(tmp_path / "lock")
    with (
        processes.provenn("samp", "hub", "--hub", lock) as (hub, _),
        processes.provenn("samp", "listen", "--archive", str(folder), "--hub", lock) as (process, _),
    ):
        processes.ended(hub, how)
        assert process.wait(LIMIT) == status


def test_a_second_hub_is_refused(hub):
    result = CliRunner().invoke(cli.app, ["samp", "hub"])
    assert result.exit_code == 2
    assert f"a hub is already running: {hub}" in result.stderr


def test_the_command_lists_who_is_there(hub):
    with connect_to_hub("aladin", hub) as client:
        client.bind_receive_call("table.load.votable", lambda *_: None)
        result = CliRunner().invoke(cli.app, ["samp", "clients"])
    assert result.exit_code == 0
    assert any(line.split()[1:] == ["aladin", "table.load.votable"] for line in result.stdout.splitlines())
