"""Reads from a passage answer what the planner needs; the lake gets its rows from staging, not from here."""

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from transit_etl.api.exchange import Answer, Outcome
from transit_etl.collect.planner import Listing, Observation
from transit_etl.service_day import nearest_reading, parse_clock

SUSPECT_AHEAD = timedelta(
    hours=2
)  # a bus that has passed may stay listed with its wait wrapped round the clock
SUSPECT_BEHIND = timedelta(minutes=2)
_REFUSED = frozenset({Outcome.ERROR_ROW, Outcome.CLIENT_ERROR})
_PADDING = re.compile(r"^0+(?=[^/])")


class Observer:
    """Turns answers into observations; needs the operator's zone because listed times carry no date."""

    def __init__(self, zone: ZoneInfo) -> None:
        self._zone = zone

    def observation(self, answer: Answer) -> Observation:
        """Return what an answer says of its stop; of a bad one, only that it was asked."""
        at = answer.received_at.timestamp()
        is_good = answer.outcome is Outcome.OK
        return Observation(
            stop_code=answer.request.key,
            at=at,
            is_good=is_good,
            is_refused=answer.outcome in _REFUSED,
            listings=tuple(self._listings(answer.body or b"{}", answer.received_at)) if is_good else (),
        )

    def _listings(self, body: bytes, received_at: datetime) -> Iterator[Listing]:
        for row in json.loads(body).get("passaggi") or ():
            predicted_at = self._predicted_at(row, received_at)
            if predicted_at is not None:
                yield Listing(
                    line_label=normal_label(str(row.get("linea") or "")),
                    destination=str(row.get("destinazione") or ""),
                    trip_id=str(row.get("id_corsa") or ""),
                    predicted_at=predicted_at.timestamp(),
                    is_live=row.get("teorico") is False,
                )

    def _predicted_at(self, row: Any, received_at: datetime) -> datetime | None:  # noqa: ANN401 - upstream's
        """Return the instant a row predicts, or None where it gives none that can be meant."""
        if not isinstance(row, dict):
            return None
        try:
            seconds = parse_clock(str(row.get("orario"))) % 86_400
        except ValueError:
            return None
        predicted_at = nearest_reading(seconds, received_at, self._zone)
        is_meant = -SUSPECT_BEHIND <= predicted_at - received_at <= SUSPECT_AHEAD
        return predicted_at if is_meant else None


def normal_label(label: str) -> str:
    """Return a line label without the zeros it may be padded with."""
    return _PADDING.sub("", label.strip())
