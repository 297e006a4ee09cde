"""# staging: what the continuous collectors landed, from raw to lake.

**What it does.** Whenever `passages` or `status` says that a window has landed, stages every finished
window of both that is not in the lake yet: normalises, validates, stores. It is a DAG of its own so that
the next window need not wait for it; the other collecting DAGs stage what they collect themselves.

**What a failure means.** `stage` red: a rule that stops a batch was broken, or a raw file cannot be read;
the log names each. Every other window was staged all the same. A rejected batch is in `data/quarantine` and
is not tried again by itself; the answers are safe in `data/raw`.

**What to do.** Read the first rejection. Has the upstream changed? Then mend the rule in `expectations/` or
the reading in `transit_etl/stage/`, and `transit-etl reprocess --from DAY --to DAY`. Was the batch truly
bad? Then leave it out: the gap counts as missing coverage. A file that cannot be read is reported again by
every run until it is mended or moved out of `data/raw`.

**What not to do.** Do not loosen a rule to turn the run green, do not edit a raw file.
"""

from airflow.sdk import dag, task

from transit_etl.scheduling import DEFAULTS, any_raw_asset, lake_asset, polling_dags, stage_polled


@dag(
    schedule=any_raw_asset(),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    doc_md=__doc__,
    tags=["stage"],
)
def staging() -> None:
    """Stage the finished windows of passages and status."""

    @task(outlets=[*map(lake_asset, polling_dags())])
    def stage() -> dict[str, int]:
        return stage_polled()

    stage()


staging()
