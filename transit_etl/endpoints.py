"""The table of endpoints: everything the pipeline has to know about each endpoint of the interface.

A new endpoint is one row here. Whatever needs code of its own, such as a way to ask or a shape of answers, is
named by an enumeration; the layer that owns the code maps each member to a function.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, StrEnum, auto


class Kind(StrEnum):
    """What a permit is for, in order of priority: whose turn it is when several wait for the allowance."""

    STATUS = "status"
    NEWS = "news"
    NETWORK = "network"  # lines and their stops
    TIMETABLES = "timetables"
    PASSAGES = "passages"
    LEGACY = "legacy"  # version 0


class Asked(Enum):
    """Which requests a collection makes; `collect/datasets.py` holds the source of each."""

    ONCE = auto()  # one request without a key
    PER_LINE = auto()  # one request per listed line
    PER_LINE_AND_DATE = auto()  # one request per active line and date, today and the coming days
    BY_POLICY = auto()  # the stop that the planning policy chooses, again and again
    AT_INTERVALS = auto()  # the same request every `status_interval_seconds`
    WITH_ITEMS = auto()  # a list, then the items it names that are new, changed, or due again by age
    VERSION_0 = auto()  # all endpoints of version 0, one after another


class Shape(Enum):
    """What a usable answer looks like; `api/classification.py` holds the check of each."""

    ROWS = auto()  # an array of objects
    ROWS_UNDER_KEY = auto()  # an object with an array of objects under the key
    WITH_ANY_KEY = auto()  # an object with at least one of the keys
    STOPS = auto()  # an object with an array per direction, under any key
    PASSAGES = auto()  # rows under the key, none of which reports an error
    STATUS = auto()  # rows under the key, or nothing at all
    ANY = auto()  # any JSON: the interface does not specify it


class Dates(Enum):
    """Which service dates change when an answer is staged; `warehouse/lake_changes.py` holds the SQL."""

    OF_REQUEST = auto()  # the date of the request alone
    OF_ROWS = auto()  # the service dates of its rows
    OF_RECEIPT = auto()  # the date of receipt and the one before; of the first answer ever, all dates


@dataclass(frozen=True, slots=True)
class Cadence:
    """When and how often a DAG asks.

    dag: its name, and its file's in `dags/`.
    kind: what its requests count as when the allowance is shared out.
    cron: the instants of its runs, in the operator's time zone.
    every: the time between two of them, which is what rehearsals go by. Without it the DAG polls in windows,
        one after another without a pause.
    runs_after: a DAG whose answers say what to ask for: when they change, this one runs as well.
    is_paused: whether it runs only once somebody starts it. Rehearsals leave it out.
    """

    dag: str
    kind: Kind
    cron: str = ""
    every: timedelta | None = None
    runs_after: str | None = None
    is_paused: bool = False


# In order of priority: of the lists due at the same time, a rehearsal starts the first one first.
CADENCES = {
    cadence.dag: cadence
    for cadence in (
        Cadence("status", Kind.STATUS),
        Cadence("news", Kind.NEWS, "5 * * * *", timedelta(hours=1)),
        Cadence("network", Kind.NETWORK, "30 4 * * *", timedelta(days=1)),
        Cadence("timetables", Kind.TIMETABLES, "10 1-23/4 * * *", timedelta(hours=4), runs_after="network"),
        Cadence("passages", Kind.PASSAGES),
        Cadence("legacy_v0", Kind.LEGACY, "40 */6 * * *", timedelta(hours=6), is_paused=True),
    )
}
REHEARSED = tuple(cadence.dag for cadence in CADENCES.values() if not cadence.is_paused)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One endpoint.

    name: in the ledger, in the folders of `data/raw`, and for `transit-etl collect`.
    path: below the base address of the interface `version`; identifiers follow it.
    asked: how the requests of its collection are chosen.
    dag: the DAG that collects it; CADENCES says when, and with what priority.
    shape, shape_keys: what a usable answer looks like, and the keys it is recognised by.
    dataset: the lake's dataset its answers are staged to; None if only its requests are.
    dates: which service dates are rebuilt when its answers are staged.
    is_read_by_sources: whether the lake is asked for its answers to decide what to request next. Rehearsals
        then stage it before they collect on.
    most_rows: how many rows a credible answer lists at most, where each may cause requests: one that lists
        more is set aside, and at most so many are asked for.
    collected_as: what `transit-etl collect` calls it, where that is not its name: several endpoints may be
        collected together.
    """

    name: str
    path: str
    asked: Asked
    dag: str
    shape: Shape
    shape_keys: tuple[str, ...] = ()
    dataset: str | None = None
    dates: Dates = Dates.OF_REQUEST
    is_read_by_sources: bool = False
    most_rows: int | None = None
    version: int = 1
    collected_as: str | None = None

    @property
    def collection(self) -> str:
        """The name under which it is collected."""
        return self.collected_as or self.name

    @property
    def kind(self) -> Kind:
        """What its requests count as when the allowance is shared out."""
        return CADENCES[self.dag].kind

    @property
    def is_polled(self) -> bool:
        """Whether an answer is about the moment of the request: polled in windows, and never made up for."""
        return CADENCES[self.dag].every is None


def _version_0(name: str, path: str) -> Endpoint:
    return Endpoint(
        name=name,
        path=path,
        asked=Asked.VERSION_0,
        dag="legacy_v0",
        shape=Shape.ANY,
        version=0,
        collected_as="legacy",
    )


_TABLE = (
    Endpoint(
        name="lines",
        path="linee",
        asked=Asked.ONCE,
        dag="network",
        shape=Shape.ROWS,
        dataset="lines",
        dates=Dates.OF_RECEIPT,
        is_read_by_sources=True,
        most_rows=5_000,  # several times the lines of the largest networks
    ),
    Endpoint(
        name="stops",
        path="fermate",
        asked=Asked.PER_LINE,
        dag="network",
        shape=Shape.STOPS,
        dataset="line_stops",
        dates=Dates.OF_RECEIPT,
        is_read_by_sources=True,
    ),
    Endpoint(
        name="timetables",
        path="orari",
        asked=Asked.PER_LINE_AND_DATE,
        dag="timetables",
        shape=Shape.ROWS_UNDER_KEY,
        shape_keys=("servizi",),
        dataset="timetables",
        dates=Dates.OF_ROWS,
        is_read_by_sources=True,
    ),
    Endpoint(
        name="passages",
        path="passaggi",
        asked=Asked.BY_POLICY,
        dag="passages",
        shape=Shape.PASSAGES,
        shape_keys=("passaggi",),
        dataset="passages",
        dates=Dates.OF_ROWS,
    ),
    Endpoint(
        name="status",
        path="stato_servizio",
        asked=Asked.AT_INTERVALS,
        dag="status",
        shape=Shape.STATUS,
        shape_keys=("stato",),
        dataset="status",
        is_read_by_sources=True,
    ),
    Endpoint(
        name="news",
        path="news",
        asked=Asked.WITH_ITEMS,
        dag="news",
        shape=Shape.ROWS,
        dataset="news",
        is_read_by_sources=True,
        most_rows=1_000,  # an operator lists tens of them
    ),
    Endpoint(
        name="news_details",
        path="news",
        asked=Asked.WITH_ITEMS,
        dag="news",
        shape=Shape.WITH_ANY_KEY,
        shape_keys=("titolo", "contenuto"),
        dataset="news_details",
        is_read_by_sources=True,
        collected_as="news",
    ),
    _version_0("v0_transits", "transiti"),
    _version_0("v0_timetables", "orari"),
    _version_0("v0_news", "news"),
    _version_0("v0_news_details", "news"),
    _version_0("v0_status", "stato-servizio"),
)

ENDPOINTS = {endpoint.name: endpoint for endpoint in _TABLE}
COLLECTIONS = tuple(dict.fromkeys(endpoint.collection for endpoint in _TABLE))


def endpoints_of(collection: str) -> list[Endpoint]:
    """Return the endpoints that are collected together under a name; none if there is no such name."""
    return [endpoint for endpoint in _TABLE if endpoint.collection == collection]


def collections_of(dag: str) -> list[str]:
    """Return what a DAG collects, in the order in which it does."""
    return list(dict.fromkeys(endpoint.collection for endpoint in _TABLE if endpoint.dag == dag))


def is_polled(collection: str) -> bool:
    """Tell whether a collection is polled in windows; the others end when their list is done."""
    return any(endpoint.is_polled for endpoint in endpoints_of(collection))
