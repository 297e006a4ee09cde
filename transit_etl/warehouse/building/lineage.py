"""Sends what a run of dbt read and wrote as OpenLineage events, where the usual variables switch that on.

The events are those of openlineage-dbt, made of what dbt left of the run. Nothing here fails a build.
"""

import logging
import socket
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from transit_etl.warehouse.describing.dbt_manifest import PROJECT

_SEND = "import sys; from openlineage.dbt import main; sys.exit(main())"
_FAILED = "failed to emit event"  # what openlineage-dbt says of an event that was not received
_SECONDS = 60  # for all events of a run, of which there are some hundreds
_CONNECT_SECONDS = 3
_log = logging.getLogger(__name__)


def is_switched_on(environment: Mapping[str, str]) -> bool:
    """Tell whether variables name where events are sent, as the client of OpenLineage reads them."""
    if environment.get("OPENLINEAGE_DISABLED", "").lower() in {"true", "1", "yes", "on"}:
        return False
    return any(
        value
        and (name in {"OPENLINEAGE_URL", "OPENLINEAGE_CONFIG"} or name.startswith("OPENLINEAGE__TRANSPORT"))
        for name, value in environment.items()
    )


def send_lineage(artifacts: Path, output: str, database: Path, environment: Mapping[str, str]) -> None:
    """Send the events of the last run of dbt, passed or failed; what goes wrong is logged in one line.

    artifacts: where dbt left its manifest and results; output: of the profile; database: the build database,
    which names the datasets whichever worker built them.
    """
    if not is_switched_on(environment) or not (artifacts / "run_results.json").exists():
        return
    if find_spec("openlineage") is None or find_spec("openlineage.dbt") is None:
        _log.warning(
            "OPENLINEAGE variables are set, but no events are sent: pip install 'transit-etl[lineage]'"
        )
        return
    if reason := _unreachable(environment.get("OPENLINEAGE_URL", "")):
        _log.warning("no lineage events were sent: %s", reason)
        return
    command = [
        sys.executable, "-c", _SEND, "send-events", "--project-dir", str(PROJECT), "--target", output,
        "--target-path", str(artifacts),
    ]  # fmt: skip
    try:
        done = subprocess.run(  # noqa: S603 - our own program and arguments
            command,
            cwd=artifacts,
            env={**environment, "BUILD_DATABASE": str(database.resolve())},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        _log.warning("not all lineage events were sent: %s", " ".join(str(error).split())[-200:])
        return
    if done.returncode != 0 or _FAILED in done.stdout:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        reason = next((line for line in lines if _FAILED in line), lines[-1] if lines else "no reason given")
        _log.warning("not all lineage events were sent: %s", reason)


def _unreachable(url: str) -> str:
    """Say why nothing listens at an address; empty where something does, or no address is given.

    The client would try each of hundreds of events several times.
    """
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        if not parts.hostname:
            return "OPENLINEAGE_URL names no host"
        port = parts.port or {"https": 443}.get(parts.scheme, 80)
    except ValueError as error:
        return f"OPENLINEAGE_URL: {error}"
    try:
        socket.create_connection((parts.hostname, port), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        return f"{parts.hostname}:{port}: {error}"
    return ""
