"""Asks advisory services whether a package of requirements.lock has a known vulnerability (`make audit`).

Fails if one has, and also if no service answered: then nothing is known.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

CHECKOUT = Path(__file__).resolve().parents[1]
LOCK = CHECKOUT / "requirements.lock"
SERVICES = {"osv": ["--vulnerability-service", "osv"], "pypi": ["--vulnerability-service", "pypi"]}
# A mirror of an index may answer without any advisories. One that does not know this one knows none.
KNOWN_TO_BE_VULNERABLE = "urllib3==1.24.1\n"
FOUND, NOTHING_KNOWN = 1, 2

Ask = Callable[[list[str], Path], list[str] | None]


def main() -> int:
    """Print the advisories about locked packages, or that no service could be asked; return the exit code."""
    with TemporaryDirectory() as folder:
        probe = Path(folder) / "probe.txt"
        probe.write_text(KNOWN_TO_BE_VULNERABLE)
        return audit(ask, probe)


def audit(ask: Ask, probe: Path) -> int:
    """Ask the first service that knows the vulnerability of the probe about the lock."""
    for service, options in SERVICES.items():
        if not ask([*options, "--no-deps"], probe):
            print(f"audit: the advisory service {service} is not reachable, or knows no advisories")  # noqa: T201
            continue
        found = ask([*options, "--require-hashes"], LOCK)
        if found is None:
            print(f"audit: the advisory service {service} stopped answering")  # noqa: T201
            continue
        print("\n".join([*found, f"audit: {len(found)} vulnerable packages in {LOCK.name} ({service})"]))  # noqa: T201
        return FOUND if found else 0
    print("audit: NOTHING WAS CHECKED: no advisory service is reachable", file=sys.stderr)  # noqa: T201
    return NOTHING_KNOWN


def ask(options: list[str], requirements: Path) -> list[str] | None:
    """Return a line for each vulnerable package that pip-audit finds; None if its service does not answer."""
    command = [
        sys.executable, "-m", "pip_audit", "--disable-pip", "--progress-spinner", "off", "--timeout", "10",
        "--format", "json", *options, "--requirement", str(requirements),
    ]  # fmt: skip
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(finished.stdout)["dependencies"]
    except (ValueError, KeyError):
        return None
    return [
        f"{package['name']} {package['version']}: {', '.join(each['id'] for each in package['vulns'])}"
        for package in packages
        if package.get("vulns")
    ]


if __name__ == "__main__":
    sys.exit(main())
