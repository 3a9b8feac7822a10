"""Real archives of folders that change: all classes of catalogs answer as if they had been made from scratch."""

from random import Random

import pytest

from tests.targets.grown_surveys import Survey, make_comparable


@pytest.mark.parametrize(
    ("cases", "changes"),
    [pytest.param(1, 1, id="quick"), pytest.param(300, 2, id="campaign", marks=pytest.mark.campaign)],
)
def test_refreshed_catalogs_are_those_from_scratch(engine, tmp_path_factory, cases, changes):
    """Random verbs, changes of files and criteria, and requests that store what they compute."""
    for _ in range(cases):
        check_survey(engine, tmp_path_factory.mktemp("grown"), Random(), changes)


def check_survey(engine, folder, rng: Random, changes: int) -> None:
    survey = Survey(folder, engine.session.sparkContext.master, rng)
    with survey.side.archive as archive:
        before = survey.compute_from_scratch()
        for name in rng.sample(sorted(before), 3):
            archive[name].store()
        for _ in range(changes):
            versions = {name: len(archive.log(name)) for name in before}
            kept = survey.change()
            now = survey.compute_from_scratch()
            for name in rng.sample(sorted(now), 3):
                assert make_comparable(archive[name].to_arrow()) == make_comparable(now[name]), name
            name = rng.choice(sorted(before))
            survey.find_unchanged(name, versions[name], before[name], is_kept=kept)
            before = now
        assert survey.find_repeated_calls() == {}
