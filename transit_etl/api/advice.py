"""Says what an answer that is not usable means, and which setting to look at."""

from dataclasses import dataclass

from transit_etl.api.exchange import Answer, Outcome
from transit_etl.settings import Settings

_REFUSALS_OF_A_CALLER = (401, 403)


@dataclass(frozen=True, slots=True)
class Advice:
    """What is wrong, in one word (`token`, `allowance` or `address`) and in one sentence with the remedy."""

    subject: str
    text: str


def advice_about(settings: Settings, answer: Answer) -> Advice:
    """Return the advice about an answer that is not usable."""
    is_legacy = answer.request.version == 0
    root, token = settings.base_url, settings.token
    token_setting, address_settings = "TRANSIT_TOKEN", "TRANSIT_BASE_URL"
    if is_legacy:
        root, token = settings.legacy_root, settings.token_of_version_0
        token_setting = "TRANSIT_LEGACY_TOKEN"  # noqa: S105 - the name of a variable
        address_settings = "TRANSIT_LEGACY_BASE_URL and TRANSIT_OPERATOR_SEGMENT"
    came = answer.error or answer.outcome.value
    if answer.http_status in _REFUSALS_OF_A_CALLER:
        what = "the token" if token else "a request without a token"
        return Advice("token", f"{root} refuses {what}: {came}; look at {token_setting}")
    if answer.outcome is Outcome.RATE_LIMITED:
        return Advice("allowance", f"{root} refuses a request: {came}")
    look = f"; look at {address_settings}"
    if not {"base_url", "legacy_base_url"} & settings.model_fields_set:
        look = ": it is the emulator's, for want of a TRANSIT_BASE_URL; `transit-etl emulator` starts one"
    return Advice("address", f"{root} gives no usable answer: {came}{look}")
