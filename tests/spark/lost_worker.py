"""Run by `test_cluster`, on a cluster: a worker is killed while it works."""

import os
import signal

import pyarrow as pa
import pyarrow.compute as pc

from provenn.spark.progress import watch_run
from provenn.spark.spark_errors import translate_errors


def test_a_worker_that_is_killed_in_mid_job_changes_nothing(engine):
    seen = []

    def listener(progress):
        if progress.tasks_done >= 2 and not any(one.tasks_done >= 2 for one in seen):
            os.killpg(int(os.environ["PROVENN_TEST_WORKER"]), signal.SIGKILL)
        seen.append(progress)

    def squared(batches):
        import time  # noqa: PLC0415 - on the worker

        for batch in batches:
            time.sleep(0.3)
            yield pa.RecordBatch.from_arrays([pc.multiply(batch["id"], batch["id"])], ["id"])

    frame = engine.session.range(0, 12_000, 1, 12).mapInArrow(squared, "id bigint")
    with translate_errors("squaring"), watch_run(engine, "squaring", listener):
        grouped = frame.selectExpr("id % 5 AS k", "id").groupBy("k").sum("id").collect()
    expected = {}
    for number in range(12_000):
        expected[number**2 % 5] = expected.get(number**2 % 5, 0) + number**2
    assert dict(map(tuple, grouped)) == expected
    assert any(2 <= one.tasks_done < 12 for one in seen), "it was in mid-job"
    done = [one.tasks_done for one in seen]
    assert done == sorted(done), "what was lost is not shown as lost"
