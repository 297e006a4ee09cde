"""The command that prints the figures of an installation for Prometheus, and `check`, which writes them."""

from pathlib import Path

from tests.cli.conftest import RunCli


def test_metrics_are_printed_or_written(cli: RunCli, tmp_path: Path) -> None:
    printed = cli("metrics").stdout
    written = cli("metrics", "--output", str(tmp_path / "a.prom"))
    cli("check", TRANSIT_METRICS_FILE=str(tmp_path / "b.prom"))

    assert "# TYPE transit_etl_problems gauge\n" in printed
    assert 'transit_etl_problem{operator="emulated",problem="empty"} 1.0' in printed
    assert (0, "") == (written.returncode, written.stdout)
    for name in ("a.prom", "b.prom"):
        assert "transit_etl_problems" in (tmp_path / name).read_text()
