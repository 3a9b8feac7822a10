"""Quotas of what is stored, for archives that are used directly: on a real Spark."""

import pytest

import provenn
from provenn.archive.quotas import list_usage, set_quotas
from provenn.errors import QuotaError
from tests.web.survey import make_survey


@pytest.fixture
def archive(tmp_path):
    with make_survey(tmp_path / "survey") as opened:
        yield opened


def stored(archive: provenn.Archive) -> int:
    return next(one.used for one in list_usage(archive, archive.who) if one.kind == "stored")


def test_who_may_keep_no_more_gets_results_and_keeps_nothing(archive, tmp_path):
    before = stored(archive)
    set_quotas(archive, "ada", {"stored": before})
    with pytest.raises(QuotaError, match="may store") as caught:
        archive.store("near")
    assert "collect_garbage" in caught.value.hint
    done = archive.target("stars", ["near"], keep="always").write(tmp_path / "out.parquet")
    assert done.rows == 6
    assert stored(archive) == before
    set_quotas(archive, "ada", {"stored": before + 100})
    with pytest.raises(QuotaError):
        archive.store("near")
    assert stored(archive) == before, "what is too large once its size is known leaves nothing behind"
    assert archive.target("stars", ["near"], keep="always").to_pandas().shape[0] == 6
    set_quotas(archive, "ada", {"stored": None})
    archive.store("near")
    assert stored(archive) > before
