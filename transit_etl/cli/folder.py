"""The command that says what the data folder is, and lets it become what the settings say."""

from typing import Annotated

import typer

from transit_etl.cli.options import EXIT_FAILED, Json
from transit_etl.cli.output import fields_of, print_error, print_fields, print_json
from transit_etl.settings import load_settings


def folder(
    *,
    accepts: Annotated[
        bool, typer.Option("--accept", help="Let the folder be what the settings say, and say what follows.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what the data folder is: whose answers it holds, and how their service days are read.

    It is what the settings were when the first answer came. Whatever writes into it is refused while they
    differ. With --accept it takes another operator (TRANSIT_OPERATOR) beside its own, or another time zone
    or start of the service day, with which its raw answers are then to be staged again. Fails if the
    settings differ.

    Example: transit-etl folder
    """
    from transit_etl import identity

    settings = load_settings()
    follows = identity.accept(settings) if accepts else []
    known, problem = identity.identity_of(settings), identity.difference(settings)
    if as_json:
        fields = fields_of(known) if known else None
        print_json({"folder": fields, "path": settings.data_dir.absolute(), "follows": follows})
    else:
        print_fields(
            {
                "data folder": str(settings.data_dir.absolute()),
                "is of": str(known) if known else "nobody yet: it holds no answer",
                "rehearsed": "\n".join(map(str, known.rehearsals)) if known else "",
                "follows": "\n".join(follows),
            }
        )
    if problem or (not accepts and (problem := identity.outdated_of(settings))):
        print_error(problem)
        raise typer.Exit(EXIT_FAILED)
