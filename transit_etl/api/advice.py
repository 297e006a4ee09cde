"""Says what an answer that is not usable means, and which setting to look at."""

from dataclasses import dataclass

from transit_etl.api.classification import CUT, NOT_JSON, PAGE, REDIRECTION
from transit_etl.api.connections import proxy_variables
from transit_etl.api.exchange import Answer, Outcome
from transit_etl.settings import CollectSettings

_BAD_REQUEST = 400
_REFUSALS_OF_A_CALLER = (401, 403)
_PROXY_LOGIN, _NETWORK_LOGIN = 407, 511
_GATEWAY = (502, 504)  # what a server in between says of the one behind it


@dataclass(frozen=True, slots=True)
class Advice:
    """What is wrong, in one word such as `token` or `address`, and in one sentence with the remedy."""

    subject: str
    text: str


def advice_about(settings: CollectSettings, answer: Answer) -> Advice:
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
    elsewhere = _beside_the_address(answer)
    if elsewhere is not None:
        return Advice(elsewhere.subject, f"{root} gives no usable answer: {came}; {elsewhere.text}")
    look = f"; look at {address_settings}"
    if not {"base_url", "legacy_base_url"} & settings.model_fields_set:
        look = ": it is the emulator's, for want of a TRANSIT_BASE_URL; `transit-etl emulator` starts one"
    elif answer.http_status is not None and REDIRECTION <= answer.http_status < _BAD_REQUEST:
        look = f", which is not followed{look}"
    elif came.startswith(f"{NOT_JSON}: {PAGE}"):
        look = f": another server's, or the login of the network that this machine is in{look}"
    return Advice("address", f"{root} gives no usable answer: {came}{look}")


def _beside_the_address(answer: Answer) -> Advice | None:
    """Return what is wrong, and the remedy, if it is not the address that was asked."""
    by = f"it is asked by way of the proxy {answer.proxy}" if answer.proxy else ""
    if answer.proxy and (not answer.n_sent or answer.http_status in {_PROXY_LOGIN, *_GATEWAY}):
        return Advice("proxy", f"{by}: look at {proxy_variables(answer.proxy)}, or leave it out by NO_PROXY")
    if answer.http_status == _PROXY_LOGIN:
        return Advice("proxy", "a proxy on the way wants a login: put it into HTTP_PROXY or HTTPS_PROXY")
    if answer.http_status == _NETWORK_LOGIN:
        return Advice("network", "the network that this machine is in wants a login first")
    also = f"; {by}" if by else ""
    if "CERTIFICATE_VERIFY_FAILED" in (answer.error or ""):
        return Advice(
            "certificate",
            f"none of the certificates trusted here signed its own: look at SSL_CERT_FILE{also}",
        )
    is_reached = answer.outcome in {Outcome.TIMEOUT, Outcome.CONNECTION_ERROR} and answer.n_sent
    is_cut = (answer.error or "").startswith(f"{NOT_JSON}: {CUT}")
    if answer.outcome is Outcome.SERVER_ERROR or is_reached or is_cut:
        return Advice(
            "server", f"the address is reached, and the fault is there or on the way{also}: ask again later"
        )
    return None
