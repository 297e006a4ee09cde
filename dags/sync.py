"""# sync: shares raw answers and the lake with other hosts.

**What it does.** Every ten minutes, where `TRANSIT_LAKE_URL` names an object store: takes in what other hosts
published, sends what is new here, and stages what others collected and nobody staged. `warehouse` runs
afterwards if the lake has changed by it. Without the setting it never runs. Every other DAG that stages does
the same with the store before and after; this one is for hosts that collect nothing, and for what waited.

**What a failure means.** `sync` red: the store did not answer; the log says why, and nothing is lost. What is
new here waits in `data`, and every step goes on with what is there. `accepted` red: the store refuses a file,
a file here cannot be read, or a batch was rejected; the rest was done, and `warehouse` runs with it. `another
file of this name` means that two hosts used one name for different raw files, as after a data folder was
copied together with its state.

**What to do.** Nothing, if the store is being repaired. If it refuses, look at the credentials and the policy
of the bucket. Of two files of one name, rename the one that is here, without its ending.

**What not to do.** Do not change or remove objects by hand, and do not copy `data/state` to another host.
"""

from typing import cast

from airflow.sdk import dag
from airflow.sdk.exceptions import AirflowSkipException

from transit_etl.scheduling.dag_parts import dag_arguments, step
from transit_etl.scheduling.schedules import SYNCED, sync_schedule
from transit_etl.scheduling.steps import refuse, sync_and_stage, tell


@dag(schedule=sync_schedule(), tags=["stage"], **dag_arguments(__doc__))
def sync() -> None:
    """Compare the data folder with the object store, and stage what came from other hosts."""

    @step(task_id="sync", outlets=[SYNCED])
    def compare() -> list[str]:
        found = sync_and_stage()
        if not (found.counts["n_files_fetched"] or found.counts["n_windows_staged"] or found.problems):
            raise AirflowSkipException("the lake has not changed")
        tell(found.counts, SYNCED)
        return found.problems

    @step()
    def accepted(problems: list[str]) -> None:
        refuse(problems)

    accepted(cast("list[str]", compare()))


sync()
