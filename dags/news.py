"""# news: the operator's news, and every change of their texts.

**What it does.** Once an hour asks for the list of news, and for the text of each item that is new, whose
title or date changed, or whose text was last fetched long ago: a text is fetched again 1, 3 and 9 hours after
it was first seen, and at least every 20 hours. Stages both. A changed text becomes a new version; nothing is
overwritten.

**What a failure means.** `collect` red: three attempts, a minute apart, got no usable answer; the log says
which outcomes they had. `stage` red: a batch was rejected by a rule; the answers are safe in `data/raw`.
`complete` is red whenever a task before it is.

**What to do.** Nothing for a few hours: items stay listed for days. Later: read the log, correct the cause,
clear `collect`.

**What not to do.** Do not start it for an older date: the upstream lists only current news, so such a run
fails without a request.
"""

from airflow.sdk import DAG

from transit_etl.scheduling.dag_parts import collect_and_stage, dag_arguments
from transit_etl.scheduling.schedules import CollectingDag, collecting_dags, list_schedule


def news(one: CollectingDag) -> None:
    """Collect and stage the news and their texts."""
    with DAG(
        one.name,
        schedule=list_schedule(one, run_immediately=True),
        tags=["collect"],
        **dag_arguments(__doc__, part=one.part),
    ):
        collect_and_stage(one)


for each in collecting_dags("news"):
    news(each)
