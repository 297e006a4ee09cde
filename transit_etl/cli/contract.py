"""The command `contract`: the data contract of the published file, and what it changes of an earlier one."""

from pathlib import Path
from typing import Annotated

import typer

from transit_etl.cli import output
from transit_etl.cli.options import EXIT_FAILED, Format, Json
from transit_etl.settings import load_settings


def contract(
    earlier: Annotated[
        Path | None, typer.Argument(help="The folder of an earlier contract, or the summary of one.")
    ] = None,
    is_kept: Annotated[
        bool, typer.Option("--keep", help="Write the summary anew, if no promise in it is broken.")
    ] = False,
    as_format: Annotated[Format | None, typer.Option("--format", "-f", help="How to write the rows.")] = None,
    as_json: Json = False,
) -> None:
    """Compare the data contract of the published file with an earlier one: 1 if a promise is broken.

    Without an earlier one it lists what is deprecated. `transit-etl publish` writes the contract.

    Example: transit-etl contract docs/contract.yaml
    """
    from transit_etl.cli.formats import write
    from transit_etl.paths import contract_dir
    from transit_etl.warehouse import (
        broken_promises,
        changes_table,
        contract_changes,
        deprecations_table,
        read_contract,
        read_earlier,
        write_summary,
    )

    settings = load_settings()
    published = read_contract(contract_dir(settings.data_dir))
    form = Format.JSON if as_json else as_format
    if earlier is None:
        write([deprecations_table(published)], form, None)
        return
    if is_kept and earlier.is_dir():
        raise typer.BadParameter("--keep writes a file, and this is a folder", param_hint="EARLIER")
    is_first = is_kept and not earlier.exists()
    kept = published if is_first else read_earlier(earlier)
    write([changes_table(contract_changes(kept, published))], form, None)
    broken = broken_promises(kept, published, settings.clock.now().date())
    for each in broken:
        output.print_error(each)
    if broken:
        raise typer.Exit(EXIT_FAILED)
    if is_kept:
        write_summary(earlier, published)
