"""Tables are sent: to a client, to TOPCAT; and STILTS reads what is sent."""

import subprocess
from contextlib import contextmanager

import pytest
from astropy.table import Table
from pyvo import samp

import provenn
from provenn.errors import FormatError, SampError, UnknownCatalogError
from provenn.samp import clients, send
from provenn.samp.hubs import connect_to_hub, convert_url_to_path, find_clients, request_answer
from tests.programs import program
from tests.samp.processes import running
from tests.waiting import LIMIT, wait_until


@contextmanager
def receiver(name, hub, *, works=True):
    """A program on the hub that takes tables; what it was sent is in the list."""
    loaded = []
    with connect_to_hub(name, hub) as client:

        def load(_key, _sender, message, _mtype, params, _more):
            loaded.append(params)
            answer = {"samp.status": "samp.ok", "samp.result": {}}
            if not works:
                answer = {"samp.status": "samp.error", "samp.error": {"samp.errortxt": "no memory"}}
            client.reply(message, answer)

        client.bind_receive_call("table.load.votable", load)
        client.bind_receive_call("table.load.fits", load)
        yield loaded


@pytest.mark.parametrize("format", ["votable", "fits"])
def test_a_catalog_is_sent_with_its_units_and_its_name(survey: provenn.Archive, hub, format):  # noqa: A002
    with receiver("table tool", hub) as loaded:
        [done] = send(survey["bright"], format=format)
    assert (done.name, done.rows, done.problem) == ("table tool", 4, None)
    [params] = loaded
    assert (params["url"], params["name"]) == (done.url, "bright")
    table = Table.read(convert_url_to_path(done.url))
    assert sorted(table["hip"]) == [1, 2, 3, 4]
    assert str(table["plx"].unit) == "mas"


def test_a_target_is_sent_and_only_to_whom_it_is_meant_for(survey: provenn.Archive, hub):
    with receiver("one", hub) as item, receiver("other", hub) as other:
        [done] = send(survey.target("bright", ["vmag"], where="plx > 20"), "OTHER")
        assert (len(item), len(other), done.rows) == (0, 1, 2)
        assert len(send(survey["bright"])) == 2, "by default all get it"
        assert {"one", "other"} <= {client.name for client in clients()}
    assert not {"one", "other"} & {client.name for client in clients()}, "they have left"


def test_who_could_not_load_it_is_told_and_only_if_nobody_could_that_is_an_error(survey: provenn.Archive, hub):
    with receiver("bad", hub, works=False), receiver("good", hub):
        bad, good = send(survey["bright"])
        assert (bad.problem, good.problem) == ("bad: no memory", None)
        with pytest.raises(SampError, match="bad: no memory"):
            send(survey["bright"], "bad")


def test_what_cannot_be_sent_is_refused_before_anything_is_computed(survey: provenn.Archive, hub, monkeypatch):
    monkeypatch.setattr(type(survey["bright"]), "write", None)
    with pytest.raises(SampError, match=r"no client on the hub accepts table\.load\.votable"):
        send(survey["bright"])
    with pytest.raises(FormatError, match="'vottable' cannot be sent") as refused:
        send(survey["bright"], format="vottable")
    assert refused.value.hint == "did you mean votable?"
    with receiver("aladin", hub), pytest.raises(SampError, match="no client named 'alladin' accepts") as refused:
        send(survey["bright"], "alladin")
    assert refused.value.hint == "did you mean aladin?"
    with receiver("twin", hub), receiver("twin", hub), pytest.raises(SampError, match="2 clients are named twin"):
        send(survey["bright"], "twin")


def test_who_does_not_answer_is_not_waited_for_for_ever(survey: provenn.Archive, hub):
    with connect_to_hub("mute", hub) as client:
        client.bind_receive_call("table.load.votable", lambda *_: None)
        with pytest.raises(SampError, match="mute did not answer"):
            send(survey["bright"], timeout=1)


def test_a_hub_that_is_not_there_is_told_with_what_to_do(survey: provenn.Archive, tmp_path, monkeypatch):
    with pytest.raises(SampError, match=r"there is no SAMP hub") as refused:
        send(survey["bright"], hub=str(tmp_path / "none"))
    assert "provenn samp hub" in refused.value.hint
    dead = tmp_path / "dead"
    dead.write_text("# SAMP\nsamp.secret=x\nsamp.hub.xmlrpc.url=http\\://127.0.0.1\\:1/\n")
    with pytest.raises(SampError, match="is no longer running"):
        clients(str(dead))
    dead.write_text("hello")
    with pytest.raises(SampError, match="is not the lock file of a hub"):
        clients(str(dead))
    monkeypatch.setenv("SAMP_HUB", "web-profile:x")
    with pytest.raises(SampError, match="SAMP_HUB is 'web-profile:x'"):
        clients()
    with pytest.raises(UnknownCatalogError):
        survey["nothing"]


def test_provenn_does_not_tell_its_environment_to_others(hub):
    """As pyvo's clients do: there may be passwords in it."""
    with connect_to_hub("asker", hub) as asker, connect_to_hub("provenn", hub) as asked:
        assert "client.env.get" not in asker.get_subscriptions(asked.get_public_id())
        with pytest.raises(samp.SAMPProxyError):
            asker.ecall(asked.get_public_id(), "tag", "client.env.get", name="PATH")


def test_stilts_reads_what_is_sent_with_rows_units_and_ucds(survey: provenn.Archive, hub):
    stilts = program("stilts")
    with receiver("table tool", hub):
        for format_ in ("votable", "fits"):
            [done] = send(survey["stars"], format=format_)
            file = str(convert_url_to_path(done.url))
            meta = subprocess.run(
                [stilts, "tpipe", f"in={file}", f"ifmt={format_}", "cmd=meta Name Units UCD", "ofmt=csv"],
                capture_output=True,
                text=True,
                check=True,
                timeout=LIMIT,
            ).stdout.splitlines()
            assert "plx,mas,pos.parallax" in meta
            assert "vmag,mag,phot.mag;em.opt.V" in meta
            rows = subprocess.run(
                [stilts, "tpipe", f"in={file}", f"ifmt={format_}", "cmd=sort hip", "ofmt=csv"],
                capture_output=True,
                text=True,
                check=True,
                timeout=LIMIT,
            ).stdout.splitlines()
            assert rows == [
                "hip,vmag,plx,name",
                "1,-1.44,379.2,Sirius",
                "2,0.03,130.2,Vega",
                "3,4.5,10.0,",
                "4,5.9,5.0,Rigel",
                "5,6.1,1.0,x<y&z",
                "6,,2.0,",
            ]


def test_topcat_loads_what_is_sent(survey: provenn.Archive, hub, tmp_path):
    """And knows it afterwards: it highlights a row of it, and refuses to do so in a table that it does not have."""
    command = (program("xvfb-run"), "-a", program("topcat"), "-nohub", "-samp")
    with running(*command, HOME=str(tmp_path)), connect_to_hub("watcher", hub) as client:
        wait_until(lambda: bool(client.get_subscribed_clients("table.load.votable")), "TOPCAT comes")
        [topcat] = find_clients(client, "table.load.votable")
        for format_ in ("votable", "fits"):
            [done] = send(survey["bright"], "topcat", format=format_, timeout=LIMIT)
            assert (done.rows, done.problem) == (4, None)
            known = {"table-id": f"provenn:{convert_url_to_path(done.url).stem}", "url": done.url, "row": "3"}
            answer = request_answer(client, topcat, "table.highlight.row", LIMIT, known)
            assert answer["samp.status"] == "samp.ok"
        unknown = {"table-id": "provenn:none", "url": "file:///none", "row": "3"}
        answer = request_answer(client, topcat, "table.highlight.row", LIMIT, unknown)
        assert answer["samp.status"] == "samp.error"
