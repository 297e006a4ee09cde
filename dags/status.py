"""# status: the announced disruptions, diversions and lift failures, polled without a pause.

**What it does.** One run is one window (`TRANSIT_WINDOW_SECONDS`, default 600): it asks for the service
status every `TRANSIT_STATUS_INTERVAL_SECONDS` (default 60). A run starts a minute before its window (half a
window before, if that is shorter), and its window begins exactly when that of the run before it ends, so the
interval is kept. `landed` then starts `staging`. The interface gives no end time of an event: it has ended
when it is no longer listed, so its end is known to within the interval.

**What a failure means.** `collect` red, or waiting for its next attempt: no answer was usable for two minutes
or at all, or the process was killed; the log says which. The answers received are in `data/raw`, and `landed`
starts `staging` in any case. `complete` is red whenever a task before it is.

**What to do.** Nothing for one red run: a process that died is started again within seconds and polls for the
rest of its window. Events that ended in a gap get wider bounds. If several runs are red, `transit-etl status`
shows the outcomes of the requests; make a request to the upstream by hand.

**What not to do.** Do not backfill or clear `collect`: its answers would be about another time, so it fails
without a request.
"""

from airflow.sdk import DAG

from transit_etl.scheduling.dag_parts import dag_arguments, poll_one_window
from transit_etl.scheduling.schedules import CollectingDag, collecting_dags, window_schedule


def status(one: CollectingDag) -> None:
    """Collect one window of service status and say that it has landed."""
    with DAG(
        one.name,
        schedule=window_schedule(one),
        tags=["collect"],
        # The next run gets ready while this one polls; the clock says when it takes over. The third is one
        # whose worker died: it counts until Airflow notices, and must not keep the next one from starting.
        **dag_arguments(__doc__, part=one.part, max_active_runs=3),
    ):
        poll_one_window(one)


for each in collecting_dags("status"):
    status(each)
