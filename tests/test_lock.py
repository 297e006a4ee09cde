"""Every package is locked with its checksums, listed for others, and asked about at advisory services."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from scripts import audit

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PACKAGES = dict(re.findall(r"^([a-z0-9._-]+)==(\S+)(?: ; .+)? \\$", LOCK, re.MULTILINE))


def test_every_package_has_one_version_and_checksums() -> None:
    entries = re.split(r"^(?=\S)", LOCK, flags=re.MULTILINE)[1:]
    packages = [entry for entry in entries if not entry.startswith("#")]

    assert len(PACKAGES) == len(packages)
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry) for entry in packages)


def test_the_lock_names_no_index_and_no_file() -> None:
    assert not re.search(r"://|--(extra-)?index|--find-links| @ |file:", LOCK)


def test_the_set_up_installs_nothing_without_checksums() -> None:
    script = (ROOT / "scripts" / "setup.sh").read_text(encoding="utf-8")
    installs = [line for line in script.splitlines() if "pip install" in line]

    assert installs
    assert all(
        "--require-hashes" in line or "--no-deps --no-build-isolation -e ." in line for line in installs
    )


def test_a_package_with_another_checksum_is_not_installed(tmp_path: Path) -> None:
    wheel = tmp_path / "something-1.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr(
            "something-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: something\nVersion: 1.0\n"
        )
        archive.writestr("something-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("something-1.0.dist-info/RECORD", "")
    (tmp_path / "one.txt").write_text(f"something==1.0 --hash=sha256:{'0' * 64}\n")
    uv = [sys.executable, "-m", "uv", "pip", "install", "--target", str(tmp_path / "installed"), "--no-index"]

    options = ["--find-links", str(tmp_path), "--require-hashes", "--requirement", str(tmp_path / "one.txt")]
    refused = subprocess.run([*uv, *options], capture_output=True, text=True, check=False)

    assert 0 != refused.returncode
    assert "hash" in refused.stderr.lower()


@pytest.mark.long
def test_the_list_of_packages_is_that_of_the_lock(tmp_path: Path) -> None:
    written = tmp_path / "sbom.json"
    command = ["-m", "cyclonedx_py", "requirements", "--pyproject", str(ROOT / "pyproject.toml")]
    options = ["--output-reproducible", "--output-file", str(written), str(ROOT / "requirements.lock")]
    tool = {**os.environ, "PYTHONPATH": str(ROOT / ".venv" / "cyclonedx-bom")}  # scripts/setup.sh installs it
    subprocess.run([sys.executable, "-W", "ignore", *command, *options], check=True, env=tool)
    document = json.loads(written.read_text())

    assert "CycloneDX" == document["bomFormat"]
    assert PACKAGES == {each["name"]: each["version"] for each in document["components"]}
    assert "transit-etl" == document["metadata"]["component"]["name"]


class Services:
    """Advisory services that know the vulnerability of the probe or not, and find something or not."""

    def __init__(self, knowing: set[str], found: list[str] | None) -> None:
        self._knowing = knowing
        self._found = found

    def ask(self, options: list[str], requirements: Path) -> list[str] | None:
        """Answer as `audit.ask` does."""
        if requirements != audit.LOCK:
            return ["probe 1: X-1"] if options[1] in self._knowing else None
        return self._found


@pytest.mark.parametrize(
    ("services", "code", "printed"),
    [
        (Services(set(), []), 2, "NOTHING WAS CHECKED: no advisory service is reachable"),
        (Services({"osv"}, None), 2, "stopped answering"),
        (Services({"osv"}, []), 0, "0 vulnerable packages"),
        (Services({"pypi"}, []), 0, "0 vulnerable packages"),
        (Services({"pypi"}, ["a 1: X-2"]), 1, "a 1: X-2"),
    ],
)
def test_the_audit_says_what_was_found_or_that_nothing_was_checked(
    services: Services, code: int, printed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code == audit.audit(services.ask, tmp_path / "probe.txt")
    assert printed in "".join(capsys.readouterr())


def test_a_service_that_cannot_be_reached_gives_no_answer(tmp_path: Path) -> None:
    probe = tmp_path / "probe.txt"
    probe.write_text(audit.KNOWN_TO_BE_VULNERABLE)
    closed = ["--vulnerability-service", "osv", "--osv-url", "http://127.0.0.1:9/", "--no-deps"]

    assert audit.ask(closed, probe) is None
