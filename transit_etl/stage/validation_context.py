"""Starts Great Expectations once per process: offline, without output, and only when staging needs it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from great_expectations.core.batch_definition import BatchDefinition
    from great_expectations.data_context.data_context.ephemeral_data_context import EphemeralDataContext


@cache
def shared_context() -> "EphemeralDataContext":
    """Return the context that the process validates in; the first call takes seconds."""
    return new_context()


@cache
def batch_definition(dataset: str) -> "BatchDefinition[Any]":
    """Return how a window of a dataset becomes a batch in the shared context; made once, as that is slow."""
    source = shared_context().data_sources.add_or_update_pandas(f"stage {dataset}")
    return source.add_dataframe_asset(dataset).add_batch_definition_whole_dataframe("window")


def new_context() -> "EphemeralDataContext":
    """Return a new context, kept in memory alone."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read at import: send no usage statistics
    with _without_pyspark():
        import great_expectations  # noqa: PLC0415 - takes seconds, and only staging needs it
        from great_expectations.data_context.types.base import (  # noqa: PLC0415
            DataContextConfig,
            InMemoryStoreBackendDefaults,
            ProgressBarsConfig,
        )

    # The default would create a folder for pages among the system's temporary files, and leave it there.
    stores = InMemoryStoreBackendDefaults(init_temp_docs_sites=False)
    config = DataContextConfig(
        store_backend_defaults=stores, progress_bars=ProgressBarsConfig(globally=False), data_docs_sites={}
    )
    return great_expectations.get_context(mode="ephemeral", project_config=config)


@contextmanager
def _without_pyspark() -> Iterator[None]:
    """Let imports find no pyspark, even where it is installed.

    Great Expectations imports all of it, which takes a second, prints warnings, and ends a process that
    `multiprocessing` started: pyspark takes one for a run of its own tests.
    """
    loaded = {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] == "pyspark"}
    sys.modules["pyspark"] = None  # type: ignore[assignment]  # the import system then finds none
    try:
        yield
    finally:
        del sys.modules["pyspark"]
        sys.modules.update(loaded)
