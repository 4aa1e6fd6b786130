"""A cluster gives what threads give: joblib's Dask backend on two workers of this machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config

from heldout.estimates.out_of_core import estimate_from_blocks
from heldout.metrics import metric_named
from heldout.readers.parquet_blocks import open_blocks

pytestmark = pytest.mark.processes

distributed = pytest.importorskip("distributed")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
        ) as cluster,
        distributed.Client(cluster, timeout=60) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "roc_auc"])
def test_a_cluster_changes_no_bit(client, tmp_path: Path, metric: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    scores = rng.random((4, 1000))
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"y": y} | {f"c{j}": own for j, own in enumerate(scores)}), path, row_group_size=150)
    source = open_blocks(path, "y", metric_named(metric), block_rows=20)

    def asked(n_jobs):
        return estimate_from_blocks(
            source, metric_named(metric), n_bootstraps=80, random_state=2, n_jobs=n_jobs, n_bins=32
        ).to_dict()

    here = asked(1)
    with distributed.get_task_stream(client=client) as done, parallel_config("dask"):
        assert asked(-1) == here
    workers = {task["worker"] for task in done.data if "sum_range" in str(task["key"])}
    assert len(workers) == 2
