"""What all tests share: where outside data lie, the slow marker, and hypothesis without chance."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).resolve().parents[2] / "shared"

# Derandomized, so that the same source gives the same tests on every machine and nothing is kept between runs.
settings.register_profile("batchlp", derandomize=True, database=None, deadline=None, print_blob=True)
settings.load_profile("batchlp")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --slow."""
    parser.addoption("--slow", action="store_true", help="run the tests that are marked slow, too")


def pytest_configure(config: pytest.Config) -> None:
    """Gives a run of the tests a cache of its own: what was measured in earlier runs must not decide anything here."""
    if "PYTEST_XDIST_WORKER" not in os.environ:  # workers inherit it
        folder = tempfile.mkdtemp(prefix="batchlp-tests-")
        os.environ["BATCHLP_CACHE_DIR"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips slow tests unless --slow is given."""
    if config.getoption("--slow"):
        return
    for item in items:
        if item.get_closest_marker("slow") is not None:
            item.add_marker(pytest.mark.skip(reason="slow; add --slow to run it"))


def _folder(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}: the instances that this test reads are not part of the project")
    return folder


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of published instances with their known answers; skips where it is missing."""
    return _folder("data")


@pytest.fixture(scope="session")
def replay_dir() -> Path:
    """The folder of small files that exercise readers, with the expected models; skips where it is missing."""
    return _folder("replay")
