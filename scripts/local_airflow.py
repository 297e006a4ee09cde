"""Sets up an Airflow in one folder, for `make up`, the demonstration and the tests of the DAGs.

python -m scripts.local_airflow FOLDER    # prints the environment variables it needs, as JSON
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from secrets import token_urlsafe

CHECKOUT = Path(__file__).resolve().parents[1]
USER = "admin"
# Without the servers of logs, which listen to every machine: the web server reads the logs from disk.
PROGRAMS = {
    "scheduler": ["scheduler", "--skip-serve-logs"],
    "dag-processor": ["dag-processor"],
    "triggerer": ["triggerer", "--skip-serve-logs"],
    "airflow": ["api-server"],
}
BIN = Path(sys.executable).parent

# Without a settings file each program would write one, with secrets that the others do not know.
_SET_UP = """
from airflow.configuration import write_default_airflow_configuration_if_needed

write_default_airflow_configuration_if_needed()

from airflow.utils.db import initdb
from airflow.models.pool import Pool
from transit_etl.scheduling.schedules import WAREHOUSE_POOL

initdb()
Pool.create_or_update_pool(
    WAREHOUSE_POOL, slots=1, description="Writers of lake and warehouse take turns", include_deferred=True
)
"""


def main() -> None:
    """Set up an Airflow in a folder, and print the environment variables it needs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    env = environment(parser.parse_args().folder, os.environ)
    set_up(env)
    print(json.dumps({name: env[name] for name in env if name.startswith("AIRFLOW_") or name == "PATH"}))  # noqa: T201


def environment(home: Path, inherited: Mapping[str, str], *, port: int = 8080) -> dict[str, str]:
    """Return the environment of an Airflow in `home`: `inherited` without the settings of another Airflow.

    It listens on this machine only, answers to its names alone, and has one user, whose password is set by
    `new_password`.
    """
    inherited = {name: value for name, value in inherited.items() if not name.startswith("AIRFLOW_")}
    address = f"http://localhost:{port}"
    return {
        **inherited,
        "PATH": f"{BIN}{os.pathsep}{inherited.get('PATH', os.defpath)}",
        "AIRFLOW_HOME": str(home.resolve()),
        "AIRFLOW__CORE__DAGS_FOLDER": str(CHECKOUT / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(CHECKOUT / "scripts" / "airflow_plugins"),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(_passwords(home).resolve()),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{address}/execution/",
        "AIRFLOW__CORE__PARALLELISM": "6",
        "AIRFLOW__API__BASE_URL": address,
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__WORKERS": "1",
    }


def new_password(home: Path) -> str:
    """Give the user a new password, kept where only its owner can read it, and return it."""
    password, file = token_urlsafe(18), _passwords(home)
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_text(json.dumps({USER: password}))
    return password


def _passwords(home: Path) -> Path:
    return home / "passwords.json"


def set_up(env: Mapping[str, str]) -> None:
    """Create or upgrade the metadata database and the pool of one slot; may raise CalledProcessError."""
    subprocess.run([sys.executable, "-c", _SET_UP], env=env, check=True, capture_output=True, text=True)


if __name__ == "__main__":
    main()
