"""Stores the state of a request budget so that all callers can change it, one at a time."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from sqlite3 import SQLITE_CANTOPEN, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_NOTADB, SQLITE_PERM, SQLITE_READONLY
from typing import Any, Protocol, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DatabaseError, OperationalError, SQLAlchemyError

from transit_base.errors import TransitError
from transit_base.files import make_folder
from transit_etl.collect.allowance.budget_state import BudgetState
from transit_etl.collect.allowance.sqlite_file import SqliteFile
from transit_etl.collect.allowance.state_text import DamagedStateError, OtherVersionError, dumps, loads

T = TypeVar("T")
Work = Callable[[BudgetState, float], T]

LOCK_TIMEOUT_SECONDS = 5
HEARTBEAT_SECONDS = 0.4

_CREATE = "CREATE TABLE IF NOT EXISTS request_budget (credential TEXT PRIMARY KEY, state TEXT NOT NULL)"
_INSERT = "INSERT INTO request_budget VALUES (:credential, :state) ON CONFLICT (credential) DO NOTHING"
_SELECT = "SELECT state FROM request_budget WHERE credential = :credential"
_UPDATE = "UPDATE request_budget SET state = :state WHERE credential = :credential"
# SQLite quotes what is damaged in its messages, which then may be no text.
_UNREADABLE = (DatabaseError, UnicodeDecodeError)
_UNUSABLE = (SQLAlchemyError, OSError, ImportError, OtherVersionError, DamagedStateError, UnicodeDecodeError)
_UNWRITABLE = (SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM)
_log = logging.getLogger(__name__)
_CREATION_LOCK = 0x7472_616E_7369_7400  # two sessions that create a table at once fail in PostgreSQL


class BudgetStoreError(TransitError):
    """The store of the request budget cannot be used; without it nothing may be sent."""


class StoreUnreachableError(BudgetStoreError):
    """The server of the store does not answer any more, though it did; it may be restarting."""


class BudgetStore(Protocol):
    """A state that all callers share.

    `heartbeat` is how often a waiting caller has to ask, in seconds; None if callers cannot die silently.
    """

    heartbeat: float | None

    async def transact(self, work: Work[T], now: Callable[[], float]) -> T:
        """Run `work` on the state and the time, with no other caller at it, and return its result."""

    async def aclose(self) -> None:
        """Close connections."""


class MemoryStore:
    """A state for callers of one event loop, such as a rehearsal in virtual time."""

    heartbeat: float | None = None

    def __init__(self, state: BudgetState | None = None) -> None:
        self._state = state or BudgetState()

    async def transact(self, work: Work[T], now: Callable[[], float]) -> T:
        """Change the state; nothing else runs meanwhile, because nothing is awaited."""
        return work(self._state, now())

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""


class SqlStore:
    """A state in one row of a SQLite file (processes of one machine) or a PostgreSQL table (of many).

    A transaction locks the row before it reads the time and until the new state is committed, so no decision
    is made on an outdated state or at an outdated time. In PostgreSQL the time is the server's, so that the
    machines' clocks need not agree. All work runs in one thread, which keeps the event loop free.

    A state that is damaged, or a SQLite file that is damaged or disappears while it is used, is replaced by
    one that is marked as lost; a damaged file is kept under another name.
    """

    heartbeat: float | None = HEARTBEAT_SECONDS

    def __init__(self, url: str, credential: str) -> None:
        self._url = _driver_url(url)
        self._credential = credential
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="request-budget")
        self._engine: Engine | None = None
        self._file = SqliteFile(Path(self._url.database or "")) if _is_sqlite(self._url) else None

    async def transact(self, work: Work[T], now: Callable[[], float]) -> T:
        """Change the state in one transaction; BudgetStoreError if the store cannot be used.

        StoreUnreachableError if its server was reached before: then a later attempt may succeed.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work, now)

    def peek(self) -> BudgetState | None:
        """Return the last committed state, None if there is none; nothing is created, changed or locked."""
        engine = create_engine(self._url)
        try:
            if self._file is not None and not self._file.path.exists():
                return None
            with engine.connect() as connection:
                found = connection.execute(text(_SELECT), {"credential": self._credential}).scalar()
            return None if found is None else loads(str(found))
        except _UNUSABLE as error:
            raise BudgetStoreError(self._explain(error)) from error
        finally:
            engine.dispose()

    async def aclose(self) -> None:
        """Close the connection and end the thread."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._dispose)
        self._thread.shutdown(wait=False)

    def _transact(self, work: Work[T], now: Callable[[], float]) -> T:
        try:
            if self._engine is not None and self._file is not None and self._file.is_replaced():
                self._start_anew("it was removed while it was used")
            try:
                return self._attempt(work, now)
            except _UNREADABLE as error:
                cause = _cause(error)
                if self._file is None or not _is_damage(cause):
                    raise
                self._file.set_aside()
                self._start_anew(f"it is damaged ({cause})")
                return self._attempt(work, now)
        except _UNUSABLE as error:
            is_lost = self._file is None and self._engine is not None and _is_disconnection(error)
            kind = StoreUnreachableError if is_lost else BudgetStoreError
            raise kind(self._explain(error)) from error

    def _attempt(self, work: Work[T], now: Callable[[], float]) -> T:
        if self._engine is None:
            self._engine = self._prepare(BudgetState())
        with self._engine.begin() as connection:
            state = self._locked_state(connection)
            result = work(state, _time(connection, now))
            self._write(connection, state)
            return result

    def _start_anew(self, why: str) -> None:
        """Make a new file that holds a lost state."""
        _log.warning(
            "the request budget in %s starts anew, nothing is sent for a minute: %s", self._name(), why
        )
        self._dispose()
        self._engine = self._prepare(BudgetState(is_lost=True))

    def _prepare(self, state: BudgetState) -> Engine:
        engine = _prepared_engine(self._url, self._credential, state)
        if self._file is not None:
            self._file.remember()
        return engine

    def _locked_state(self, connection: Connection) -> BudgetState:
        lock = " FOR UPDATE" if connection.dialect.name == "postgresql" else ""
        found: str = connection.execute(text(_SELECT + lock), {"credential": self._credential}).scalar_one()
        try:
            return loads(found)
        except DamagedStateError as error:
            _log.warning("the request budget in %s: %s; nothing is sent for a minute", self._name(), error)
            return BudgetState(is_lost=True)

    def _write(self, connection: Connection, state: BudgetState) -> None:
        connection.execute(text(_UPDATE), {"credential": self._credential, "state": dumps(state)})

    def _dispose(self) -> None:
        if self._engine is not None:
            self._engine.dispose()

    def _name(self) -> str:
        return self._url.difference_update_query(["password", "sslpassword"]).render_as_string()

    def _explain(self, why: object) -> str:
        cause = " ".join(str(_cause(why)).split()).removesuffix(".")
        return (
            f"the request budget in {self._name()} cannot be used, so nothing may be sent: {cause}. "
            f"{self._remedy(why)}, or set TRANSIT_LIMITER_URL"
        )

    def _remedy(self, why: object) -> str:
        """Say what to do; to remove a state helps only where it can be reached and another be written."""
        code = _sqlite_code(_cause(why))
        if self._file is None and isinstance(why, SQLAlchemyError):
            return "Let its server answer, and take what this account asks"
        if code == SQLITE_FULL:
            return "Make room on its disk"
        if self._file is not None and (code in _UNWRITABLE or not self._file.exists()):
            return (
                "Let this user write it and its folder; without TRANSIT_LIMITER_URL it is below "
                "XDG_STATE_HOME or HOME"
            )
        return "It holds nothing older than some minutes: remove it while nothing collects"


def _cause(error: object) -> object:
    """Return the driver's own error, where there is one."""
    return getattr(error, "orig", None) or error


def _is_disconnection(error: Exception) -> bool:
    """Tell whether a server of PostgreSQL could not be reached, is shutting down, or starting."""
    if not isinstance(error, OperationalError):
        return False
    state = getattr(error.orig, "sqlstate", None)  # none where there was no answer
    return state is None or state.startswith(("08", "57P"))


def _is_damage(cause: object) -> bool:
    if isinstance(cause, UnicodeDecodeError):
        return True
    return "no such table" in str(cause) or _sqlite_code(cause) in (SQLITE_CORRUPT, SQLITE_NOTADB)


def _sqlite_code(cause: object) -> int | None:
    """Return the primary code of an error of SQLite, without what extends it."""
    code = getattr(cause, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _driver_url(url: str) -> URL:
    parsed = make_url(url)
    return parsed.set(drivername="postgresql+psycopg") if parsed.drivername == "postgresql" else parsed


def _prepared_engine(url: URL, credential: str, state: BudgetState) -> Engine:
    engine = _sqlite_engine(url) if _is_sqlite(url) else _postgresql_engine(url)
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _CREATION_LOCK})
        connection.execute(text(_CREATE))
        connection.execute(text(_INSERT), {"credential": credential, "state": dumps(state)})
    return engine


def _sqlite_engine(url: URL) -> Engine:
    if url.database:
        make_folder(Path(url.database).parent)
    engine = create_engine(url, pool_size=1, connect_args={"timeout": LOCK_TIMEOUT_SECONDS})

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own connection
        connection.isolation_level = None  # the driver would begin late, after the state was read

    @event.listens_for(engine, "begin")
    def _lock(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgresql_engine(url: URL) -> Engine:
    options = f"-c lock_timeout={LOCK_TIMEOUT_SECONDS}s -c statement_timeout={2 * LOCK_TIMEOUT_SECONDS}s"
    return create_engine(
        url,
        pool_size=1,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"connect_timeout": LOCK_TIMEOUT_SECONDS, "options": options},
    )


def _time(connection: Connection, now: Callable[[], float]) -> float:
    if connection.dialect.name != "postgresql":
        return now()
    return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
