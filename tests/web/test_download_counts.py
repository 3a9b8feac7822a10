"""A download counts from the moment it ends, whatever the transaction that writes it down is doing."""

import pytest
from sqlalchemy.exc import OperationalError

from provenn.archive.errands import make_errand, run_errands
from provenn.errors import ArchiveBusyError
from provenn.web import quota_limits as web_quotas
from provenn.web.quota_limits import Quotas


class HeldNotes:
    """Notes that are written when the test says so."""

    def __init__(self, archive):
        self.archive = archive
        self.errands = []

    def add(self, errand):
        self.errands.append(errand)

    def write(self):
        self.errands = run_errands(self.archive, self.errands)


@pytest.fixture
def notes(archive):
    return HeldNotes(archive)


@pytest.fixture
def quotas(archive, notes):
    return Quotas(archive, notes)


def downloaded(quotas):
    return next(usage.used for usage in quotas.list_usage("ben") if usage.kind == "downloads")


def test_a_download_counts_before_during_and_after_the_transaction(archive, notes, quotas, monkeypatch):
    monkeypatch.setattr(web_quotas, "_PATIENCE", 0.0)
    seen = {}

    def look(moment):
        seen[moment] = downloaded(quotas)

    # The looks stand before and after the download in the same transaction, and are settled in that order.
    notes.add(make_errand(archive, lambda _: look("before"), settle=lambda _: look("committed")))
    quotas.count_download("ben", 6)
    notes.add(make_errand(archive, lambda _: look("written"), settle=lambda _: look("settled")))
    look("asked")
    notes.write()
    # Between the commit and the moment the server forgets it, a download may count twice, but never not at all.
    assert seen == {"asked": 6, "before": 6, "written": 6, "committed": 12, "settled": 6}
    assert downloaded(quotas) == 6


def test_a_download_that_is_committed_while_the_usage_is_read_counts_once(notes, quotas, monkeypatch):
    quotas.count_download("ben", 6)
    read_usage = web_quotas.list_usage

    def read_after_the_commit(*request):
        notes.write()
        return read_usage(*request)

    monkeypatch.setattr(web_quotas, "list_usage", read_after_the_commit)
    assert downloaded(quotas) == 6


def test_a_download_that_is_committed_after_the_usage_is_read_counts_once(notes, quotas, monkeypatch):
    quotas.count_download("ben", 6)
    read_usage = web_quotas.list_usage

    def read_before_the_commit(*request):
        usages = read_usage(*request)
        notes.write()
        return usages

    monkeypatch.setattr(web_quotas, "list_usage", read_before_the_commit)
    assert downloaded(quotas) == 6


def test_a_download_whose_transaction_was_rolled_back_is_written_later(archive, notes, quotas):
    def fail(_):
        raise ArchiveBusyError("another process writes")

    quotas.count_download("ben", 6)
    (download,) = notes.errands
    assert download in run_errands(archive, [download, make_errand(archive, fail)])
    assert downloaded(quotas) == 6
    notes.write()
    assert downloaded(quotas) == 6
    assert downloaded(Quotas(archive, notes)) == 6, "it is in the database"


def test_a_download_that_cannot_be_written_down_counts_as_long_as_the_server_runs(notes, quotas, monkeypatch):
    def fail(*_):
        raise OperationalError("INSERT", {}, Exception("the disk is full"))

    monkeypatch.setattr("provenn.people.quotas.add_download", fail)
    quotas.count_download("ben", 6)
    notes.write()
    assert notes.errands == [], "it is given up"
    assert downloaded(quotas) == 6
