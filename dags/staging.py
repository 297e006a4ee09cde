"""# staging: stages the windows of the DAGs that poll.

**What it does.** Whenever a window of `passages` or `status` has landed, stages every finished window of both
that is not in the lake yet: normalises, validates and stores it. It is a separate DAG so that the next window
need not wait for it; the other collecting DAGs stage what they collect themselves.

**What a failure means.** `accepted` red: a batch was rejected by a rule, or a raw file cannot be read; the
log names each. Every other window was staged, and `warehouse` builds with them: what one operator or one
dataset answered badly keeps nothing of the others back. A rejected batch is in `data/quarantine` and is not
tried again automatically; the answers are safe in `data/raw`. `stage` red: nothing could be staged, as with a
full disk.

**What to do.** Read the first rejection. If the upstream has changed, correct the rule in `expectations/` or
the SQL in `transit_etl/stage/sql/`, then run `transit-etl reprocess --from DAY --to DAY`. If the batch is
bad, leave it out: the gap counts as missing coverage. A file that cannot be read is reported by every run
until it is repaired or moved out of `data/raw`.

**What not to do.** Do not loosen a rule only to make the run green, and do not edit a raw file.
"""

from typing import cast

from airflow.sdk import dag

from transit_etl.scheduling.dag_parts import dag_arguments, step
from transit_etl.scheduling.schedules import any_raw_asset, collecting_dags, polled
from transit_etl.scheduling.steps import refuse, stage_polled, tell


@dag(schedule=any_raw_asset(), tags=["stage"], **dag_arguments(__doc__))
def staging() -> None:
    """Stage the finished windows of passages and status."""
    staged = [each.lake for each in collecting_dags(*polled())]

    @step(outlets=staged)
    def stage() -> list[str]:
        found = stage_polled()
        tell({"rows": found.counts}, *staged)
        return found.problems

    @step()
    def accepted(problems: list[str]) -> None:
        refuse(problems)

    accepted(cast("list[str]", stage()))


staging()
