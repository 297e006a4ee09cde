"""The values of the Helm chart say the same as the settings of workers on hosts; no chart is tried."""

import json

import yaml

from tests.deploy.test_compose import settings_of_airflow
from tests.deploy.units import WORKERS, variables
from tests.documents.sessions import ROOT

VALUES = yaml.safe_load((ROOT / "deploy/helm/values.yaml").read_text(encoding="utf-8"))
CONFIG = {
    f"AIRFLOW__{section}__{option}".upper(): str(value)
    for section, options in VALUES["config"].items()
    for option, value in options.items()
}


def test_every_option_is_a_setting_of_airflow() -> None:
    assert set() == CONFIG.keys() - settings_of_airflow()


def test_workers_in_a_cluster_have_the_settings_of_workers_on_hosts() -> None:
    on_hosts = variables((WORKERS / "celery.env").read_text(encoding="utf-8"))
    executor = on_hosts.pop("AIRFLOW__CORE__EXECUTOR")

    assert VALUES["executor"] == executor
    assert on_hosts == {name: CONFIG[name] for name in on_hosts}
    assert json.loads(CONFIG["AIRFLOW__CELERY__EXTRA_CELERY_CONFIG"])


def test_what_is_mounted_is_a_volume() -> None:
    assert {each["name"] for each in VALUES["volumeMounts"]} == {each["name"] for each in VALUES["volumes"]}
