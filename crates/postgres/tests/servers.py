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

INSTALLATIONS = [entry.split(":") for entry in os.environ.get("HEARITH_POSTGRES", "").split()]


def user():
    """What runs a program as somebody who is not root, which PostgreSQL refuses to be."""
    return ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []


def as_user(*command, **options):
    """Runs a program as that user and gives its result.

    Raises:
        AssertionError: it fails; with its output.
    """
    result = subprocess.run([*user(), *map(str, command)], capture_output=True, text=True, **options)
    assert result.returncode == 0, f"{command}: {result.stdout[-4000:]}{result.stderr[-4000:]}"
    return result


class Server:
    """A server's data, started and stopped."""

    def __init__(self, installation, name="data", **settings):
        """Makes a cluster in the installation's folder.

        `port` tells servers of one folder apart.
        """
        self.installation, self.folder = installation, installation.place
        self.data = installation.place / name
        # Version 18 computes checksums unless told otherwise, and pg_upgrade wants both the same.
        options = "--no-sync --auth=trust --username=owner --encoding=UTF8 --locale=C.UTF-8 --data-checksums"
        as_user(installation.bin / "initdb", "-D", self.data, *options.split())
        chosen = {"unix_socket_directories": str(installation.place), "listen_addresses": "", "fsync": "off"} | settings
        text = "".join(f"{key} = '{value}'\n" for key, value in chosen.items())
        with open(self.data / "postgresql.auto.conf", "a") as file:
            file.write(text)
        self.port = chosen.get("port", "5432")

    def control(self, *command):
        """Calls pg_ctl, whose server keeps none of our pipes."""
        program = [*user(), self.installation.bin / "pg_ctl", "-D", self.data, "--wait", "--silent", *command]
        # Rust would put its frames into the errors' details.
        environment = {name: value for name, value in os.environ.items() if name != "RUST_BACKTRACE"}
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        subprocess.run(list(map(str, program)), check=True, env=environment, **quiet)

    def start(self):
        self.control("start", f"--log={self.folder}/log.{self.port}")
        return self

    def stop(self, mode="fast"):
        self.control("stop", f"--mode={mode}")

    def address(self, user="owner", database="postgres"):
        """What libpq connects to."""
        return f"host={self.folder} port={self.port} user={user} dbname={database}"

    def connect(self, user="owner", database="postgres"):
        return psycopg.connect(self.address(user, database), autocommit=True)

    def create(self, database):
        """A new database with the extension, in which the tests' short keys are allowed."""
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {database}")
        self.prepare(database)

    def prepare(self, database="postgres"):
        """Makes the extension in a database, in which the tests' short keys are allowed."""
        with self.connect(database=database) as connection:
            connection.execute("CREATE EXTENSION hearith")
            connection.execute(f"ALTER DATABASE {database} SET hearith.allow_insecure_keys = on")

    def run(self, program, *arguments, database="postgres"):
        """Runs one of PostgreSQL's client programs on a database and gives what it prints."""
        return as_user(
            self.installation.bin / program, f"--dbname={self.address(database=database)}", *arguments
        ).stdout


def place():
    """A new folder for an installation and its servers."""
    folder = Path(tempfile.mkdtemp(prefix="hearith-postgres-"))
    folder.chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    return folder
