"""The wheel of the project, for the tests of what is installed without a checkout."""

from pathlib import Path

import pytest
from hatchling.build import build_wheel

from tests.documents.sessions import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel; return its path."""
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return folder / build_wheel(str(folder))
