"""Parses passage answers for the planner and `status`; staging parses them in SQL, for the lake."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from transit_etl.api.classification import without_mark
from transit_etl.api.exchange import Answer, Outcome
from transit_etl.collect.planning.policy import Listing, Observation
from transit_etl.entities import decode_entities
from transit_etl.line_labels import normal_label
from transit_etl.service_day import ClockFace, parse_clock

# A bus that has passed may stay listed, with a wait that has wrapped to almost 24 hours.
SUSPECT_AHEAD_SECONDS, SUSPECT_BEHIND_SECONDS = 7_200.0, 120.0
_REFUSED = frozenset({Outcome.ERROR_ROW, Outcome.CLIENT_ERROR})


class PassageParser:
    """Turns answers into observations; needs the operator's time zone because listed times have no date."""

    def __init__(self, zone: ZoneInfo) -> None:
        self._zone = zone

    def parse(self, answer: Answer) -> Observation:
        """Return what an answer says of its stop; a bad answer says only that the stop was asked."""
        at = answer.received_at.timestamp()
        is_good = answer.outcome is Outcome.OK
        return Observation(
            stop_code=answer.request.key,
            at=at,
            is_good=is_good,
            is_refused=answer.outcome in _REFUSED,
            listings=tuple(self.listings(answer.body or b"{}", answer.received_at)) if is_good else (),
        )

    def listings(self, body: bytes | str, received_at: datetime) -> Iterator[Listing]:
        """Yield the passages with a plausible time that the body of a good answer lists."""
        face, at = ClockFace(received_at, self._zone), received_at.timestamp()
        text = body if isinstance(body, str) else body.decode("utf-8")
        for row in json.loads(without_mark(text)).get("passaggi") or ():
            ahead = _seconds_ahead(row, face)
            if ahead is not None:
                yield Listing(
                    line_label=normal_label(str(row.get("linea") or "")),
                    destination=decode_entities(str(row.get("destinazione") or "")),
                    trip_id=str(row.get("id_corsa") or ""),
                    predicted_at=at + ahead,
                    is_live=row.get("teorico") is False,
                )


def _seconds_ahead(row: Any, face: ClockFace) -> float | None:  # noqa: ANN401 - upstream's
    """Return how many seconds ahead a row predicts its bus, or None if it holds no plausible time."""
    if not isinstance(row, dict):
        return None
    try:
        ahead = face.seconds_ahead(parse_clock(str(row.get("orario"))) % 86_400)
    except ValueError:
        return None
    return ahead if -SUSPECT_BEHIND_SECONDS <= ahead <= SUSPECT_AHEAD_SECONDS else None
