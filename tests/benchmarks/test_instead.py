"""What one would use instead of provenn, on few stars: all ways agree, and provenn computes no star twice."""

from benchmarks.instead import WAYS, Task, compare
from benchmarks.photometry import write_stars


def test_all_ways_agree_and_provenn_computes_no_star_twice(engine, tmp_path):
    write_stars(tmp_path / "stars.parquet", 3000)
    answered = compare(Task(engine.session, tmp_path / "stars.parquet", tmp_path, 1))
    assert answered.keys() == WAYS.keys()
    ours = answered.pop("provenn")
    tried = sum(ours.calculated) - ours.different
    assert 0 <= tried <= 100, "a new calculator is tried on a few stars first"
    assert ours.calculated[1:3] == (0, 0)
    assert all(sum(other.calculated) > 3 * ours.different for other in answered.values())
