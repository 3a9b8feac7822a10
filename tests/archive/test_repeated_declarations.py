"""What is declared again, for another reason: nothing is lost, and it is told."""

import json

import pytest
from typer.testing import CliRunner

import provenn
from provenn import cli
from provenn.errors import ProvennWarning


def reasons(archive: provenn.Archive) -> list[tuple[str, str, str]]:
    return [(one.who, one.subject, one.detail) for one in archive.audit(action="declare again")]


def test_another_reason_is_told_and_kept_with_who_gave_it(archive, stars, tmp_path):
    stars.select("vmag < 6", name="bright")
    first = archive.declare("nonempty(bright)", reason="seen by eye")
    assert not first.repeated
    with provenn.open(tmp_path / "survey", who="bob") as other:
        with pytest.warns(ProvennWarning, match=r"ada already declared fact #1, because: seen by eye"):
            again = other.declare("nonempty(bright)", reason="in the catalog of Bayer")
        assert again.repeated
        assert again == first
        assert reasons(other) == [("bob", "fact #1", "in the catalog of Bayer")]
        assert [notice.kind for notice in other.notices] == ["repeated"]
        assert [fact.reason for fact in other.facts()] == ["seen by eye"]


@pytest.mark.usefixtures("stars")
@pytest.mark.parametrize("reason", ["", "seen by eye"])
def test_the_same_reason_or_none_is_nothing_new(archive, reason):
    archive.declare("nonempty(stars)", reason="seen by eye")
    assert archive.declare("nonempty(stars)", reason=reason).repeated
    assert reasons(archive) == []
    assert archive.notices == ()


@pytest.mark.usefixtures("stars")
def test_the_command_tells_it(archive, tmp_path):
    archive.declare("nonempty(stars)", reason="seen by eye")
    where = ["--archive", str(tmp_path / "survey")]
    done = CliRunner().invoke(cli.app, ["declare", "nonempty(stars)", "--reason", "counted", *where])
    assert done.exit_code == 0
    assert "fact #1: nonempty(stars)" in done.output
    assert "ada already declared fact #1, because: seen by eye; it is unchanged" in " ".join(done.output.split())
    done = CliRunner().invoke(cli.app, ["declare", "nonempty(stars)", "--reason", "counted", "--json", *where])
    assert json.loads(done.stdout)["repeated"] is True
    assert [reason for _, _, reason in reasons(archive)] == ["counted", "counted"]
