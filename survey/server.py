#!/usr/bin/env python3
"""Serves the survey's page and stores answers in PostgreSQL. It has only the public key.

Usage: server.py --database CONNINFO --key public.json --library packages/js/dist [--port N]
[--insecure]
"""

import argparse
import base64
import hashlib
import json
import re
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psycopg
from psycopg_pool import ConnectionPool

HERE = Path(__file__).parent
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
# Maximum bytes of an answer: a ciphertext of 8192-bit keys.
LONGEST = 8192


class Survey:
    """The files to serve, and the destination of answers."""

    def __init__(self, options):
        """Reads all files once, because they do not change."""
        page = (HERE / "page.html").read_text().replace("@INSECURE@", "yes" if options.insecure else "no")
        script = re.search(r'<script type="importmap">(.*?)</script>', page)[1]
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        # The page may only run its own scripts and contact its own server.
        self.policy = (
            f"default-src 'none'; script-src 'self' 'sha256-{digest}'; style-src 'self'; connect-src 'self'; "
            "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
        )
        self.files = {"/": ("page.html", page.encode()), "/key.json": ("key.json", options.key.read_bytes())}
        for file in (HERE / "page.css", HERE / "page.js", HERE / "form.js"):
            self.files[f"/{file.name}"] = (file.name, file.read_bytes())
        for file in options.library.glob("*.js"):
            self.files[f"/hearith/{file.name}"] = (file.name, file.read_bytes())
        self.pool = ConnectionPool(options.database, min_size=1, max_size=8, open=True, kwargs={"autocommit": True})

    def answer(self, body):
        """Stores an answer in the table; returns a status and a line for the sender."""
        try:
            code, dept, salary = (json.loads(body)[name] for name in ("code", "dept", "salary"))
            row = (code.encode(), dept, salary)
        except (ValueError, KeyError, TypeError, AttributeError):
            return HTTPStatus.BAD_REQUEST, "This is not an answer."
        try:
            with self.pool.connection() as connection:
                taken = connection.execute("SELECT answer(%s, %s, %s::text::ciphertext)", row).fetchone()[0]
        except (psycopg.DataError, psycopg.IntegrityError):
            return HTTPStatus.BAD_REQUEST, "This is not an answer."
        if not taken:
            return HTTPStatus.CONFLICT, "This link is not valid, or was used already."
        return HTTPStatus.OK, "Received."


class Handler(BaseHTTPRequestHandler):
    """One connection of a browser."""

    protocol_version = "HTTP/1.1"
    timeout = 20

    def do_GET(self):
        """Serves a file."""
        name, content = self.server.survey.files.get(self.path, (None, b""))
        if name is None:
            self.reply(HTTPStatus.NOT_FOUND, "text/plain", b"Not found.")
        else:
            self.reply(HTTPStatus.OK, TYPES[Path(name).suffix], content)

    def do_POST(self):
        """Accepts an answer."""
        length = self.headers.get("content-length", "")
        if self.path != "/answers" or not length.isdecimal() or int(length) > LONGEST:
            self.close_connection = True
            self.reply(HTTPStatus.BAD_REQUEST, "text/plain", b"This is not an answer.")
            return
        status, line = self.server.survey.answer(self.rfile.read(int(length)))
        self.reply(status, "text/plain; charset=utf-8", line.encode())

    def reply(self, status, kind, content):
        """Sends a reply, with the page's security policy."""
        self.send_response(status)
        for name, value in {
            "content-type": kind,
            "content-length": str(len(content)),
            "content-security-policy": self.server.survey.policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cache-control": "no-store",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Logs nothing: times and addresses would reveal who answered when."""


class Server(ThreadingHTTPServer):
    """A thread for each connection."""

    daemon_threads = True
    request_queue_size = 256


def main():
    """Serves until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", required=True)
    parser.add_argument("--key", required=True, type=Path)
    parser.add_argument("--library", required=True, type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--insecure", action="store_true", help="let the page take keys that protect nothing")
    options = parser.parse_args()
    server = Server(("127.0.0.1", options.port), Handler)
    server.survey = Survey(options)
    print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
