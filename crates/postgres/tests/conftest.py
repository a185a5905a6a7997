"""PostgreSQL servers with the extension, each in a scratch folder, as an unprivileged user.

HEARITH_POSTGRES names them, separated by spaces: FOLDER:PACKAGE, where FOLDER/bin has PostgreSQL's
programs and PACKAGE the extension's files that were built for it (scripts/postgres.sh).
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest
from installation import Installation
from paillier import Key

INSTALLATIONS = [entry.split(":") for entry in os.environ.get("HEARITH_POSTGRES", "").split()]


def as_user(*command, **options):
    """Runs a program as somebody who is not root, which PostgreSQL refuses to be."""
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    return subprocess.run([*user, *map(str, command)], check=True, capture_output=True, text=True, **options)


class Server:
    """A running server."""

    def __init__(self, installation, name="data", **settings):
        self.installation = installation
        self.data = installation.place / name
        as_user(
            installation.bin / "initdb",
            "-D",
            self.data,
            "--no-sync",
            "--auth=trust",
            "--username=owner",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
        )
        chosen = {"unix_socket_directories": str(installation.place), "listen_addresses": "", "fsync": "off"} | settings
        text = "".join(f"{key} = '{value}'\n" for key, value in chosen.items())
        with open(self.data / "postgresql.auto.conf", "a") as file:
            file.write(text)
        self.port = chosen.get("port", "5432")

    def control(self, *command):
        """Calls pg_ctl, whose server keeps none of our pipes."""
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        program = [*user, self.installation.bin / "pg_ctl", "-D", self.data, "--wait", "--silent", *command]
        subprocess.run(list(map(str, program)), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def start(self):
        self.control("start", f"--log={self.installation.place}/log.{self.port}")
        return self

    def stop(self, mode="fast"):
        self.control("stop", f"--mode={mode}")

    def connect(self, user="owner", database="postgres"):
        place = self.installation.place
        return psycopg.connect(host=str(place), port=self.port, user=user, dbname=database, autocommit=True)


def place():
    folder = Path(tempfile.mkdtemp(prefix="hearith-postgres-"))
    folder.chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    return folder


@pytest.fixture(scope="session", params=INSTALLATIONS, ids=lambda entry: Path(entry[1]).parent.name)
def installation(request):
    folder = place()
    yield Installation(*request.param, folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server(installation):
    running = Server(installation, wal_level="logical", max_parallel_workers_per_gather="2").start()
    with running.connect() as connection:
        connection.execute("CREATE EXTENSION hearith")
        connection.execute("ALTER DATABASE postgres SET hearith.allow_insecure_keys = on")
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
