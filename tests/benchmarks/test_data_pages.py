"""Pages with data, measured: whether they answer, and without Spark."""

import pytest

from benchmarks.data_pages import list_data_pages, make_survey, measure_data_pages


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data_pages")
    make_survey(folder, 500)
    return folder


def test_each_kind_of_page_is_measured_and_no_look_starts_java(folder):
    took, started = measure_data_pages(folder, 1)
    assert took.keys() == list_data_pages().keys()
    assert all(min(measured.seconds) > 0 for measured in took.values())
    assert started == 0
