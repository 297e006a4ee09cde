"""The values of the Helm chart say the same as the settings of workers on hosts; no chart is tried."""

import json
import shlex
from pkgutil import resolve_name

import yaml

from tests.deploy.test_compose import check_commands_of_airflow, settings_of_airflow
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


def test_what_is_named_by_its_module_exists() -> None:
    for option in ("HOSTNAME_CALLABLE", "AUTH_MANAGER"):
        assert callable(resolve_name(CONFIG[f"AIRFLOW__CORE__{option}"]))


def test_commands_are_those_of_airflow_and_the_file_of_passwords_can_be_written() -> None:
    for part in ("migrateDatabaseJob", "apiServer"):
        check_commands_of_airflow(VALUES[part]["args"])
    copied = shlex.split(VALUES["apiServer"]["args"][-1])[4]

    assert copied == CONFIG["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"]
    assert not [each for each in VALUES["volumeMounts"] if copied.startswith(each["mountPath"])]
