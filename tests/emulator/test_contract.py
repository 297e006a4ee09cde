from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from transit_emulator.app import create_app
from transit_emulator.world import build_world

MANY = 1_000_000
# Checks that do not apply: a well-formed date may not exist, and unknown query parameters are ignored.
TOO_STRICT: list[Any] = [negative_data_rejection, positive_data_acceptance]

schema = schemathesis.openapi.from_asgi(
    "/openapi.json", create_app(build_world(), limit_without_token=MANY, limit_with_token=MANY)
)


@schema.parametrize()
@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_the_application_answers_as_its_document_says(case: schemathesis.Case[Any]) -> None:
    case.call_and_validate(headers={"Authorization": "Bearer demo-token"}, excluded_checks=TOO_STRICT)
