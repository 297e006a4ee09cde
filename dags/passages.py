"""# passages: the next passages at the stops, polled without a pause.

**What it does.** One run is one window (`TRANSIT_WINDOW_SECONDS`, default 600): it asks for the next passages
at the stops where a request is worth most, as fast as the allowance permits. A run starts a minute before its
window (half a window before, if that is shorter). In this minute it reads the lines and stops and learns from
the answers of the run before it; its window begins exactly when that of the run before it ends. So two runs
are active for a minute, and none of the allowance between them is lost. `landed` then starts `staging`.
Nobody else keeps these answers.

**What a failure means.** `collect` red, or waiting for its next attempt: no answer was usable for two minutes
or at all, no stop is in the lake yet (has `network` succeeded?), or the process was killed; the log says
which. The answers received are in `data/raw`, and `landed` starts `staging` in any case. `complete` is red
whenever a task before it is.

**What to do.** Nothing for one red run: a process that died is started again within seconds and polls for the
rest of its window, and the next run starts at its time. A gap counts as missing coverage, never as missing
buses. If several runs are red, `transit-etl status` shows the outcomes of the requests. 429 means that
another program uses the same allowance. Make a request to the upstream by hand.

**What not to do.** Do not backfill or clear `collect`: its answers would be about another time, so it fails
without a request. Do not start a second collector elsewhere with its own budget: they share one allowance.
"""

from airflow.sdk import DAG

from transit_etl.scheduling.dag_parts import dag_arguments, poll_one_window
from transit_etl.scheduling.schedules import CollectingDag, collecting_dags, window_schedule


def passages(one: CollectingDag) -> None:
    """Collect one window of passages and say that it has landed."""
    with DAG(
        one.name,
        schedule=window_schedule(one),
        tags=["collect"],
        # The next run gets ready while this one polls; the clock says when it takes over. The third is one
        # whose worker died: it counts until Airflow notices, and must not keep the next one from starting.
        **dag_arguments(__doc__, part=one.part, max_active_runs=3),
    ):
        poll_one_window(one)


for each in collecting_dags("passages"):
    passages(each)
