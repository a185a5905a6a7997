"""What the tests share: a server of each PostgreSQL, two keys, and a session."""

import shutil
from pathlib import Path

import pytest
from installation import Installation
from paillier import Key
from servers import INSTALLATIONS, Server, place


@pytest.fixture(scope="session", params=INSTALLATIONS, ids=lambda entry: Path(entry[1]).parent.name)
def installation(request):
    folder = place()
    yield Installation(*request.param, folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server(installation):
    running = Server(installation, wal_level="logical", max_parallel_workers_per_gather="2").start()
    running.prepare()
    yield running
    running.stop("immediate")


@pytest.fixture(scope="session")
def key():
    return Key()


@pytest.fixture(scope="session")
def other():
    return Key(512)


@pytest.fixture
def sql(server, key, other):
    """A session with both keys loaded and nothing left of other tests."""
    with server.connect() as connection:
        connection.execute("DROP SCHEMA IF EXISTS test CASCADE; CREATE SCHEMA test; SET search_path = test, public")
        for one in (key, other):
            connection.execute("SELECT he_load_key(%s)", [one.public()])
        yield connection


@pytest.fixture
def one(sql):
    """A query's only value."""
    return lambda query, *values: sql.execute(query, values).fetchone()[0]
