"""Database access for the mail service."""
from contextlib import contextmanager

import psycopg

SCHEMA = """
CREATE TABLE mail_jobs (
    id         bigserial PRIMARY KEY,
    state      text NOT NULL DEFAULT 'ready',  -- ready, running, done, dead
    worker     text,
    attempts   int NOT NULL DEFAULT 0,
    recipient  text NOT NULL,
    body       text NOT NULL
)
"""


@contextmanager
def transaction(dsn: str):
    """Opens a connection; commits at the end of the block, rolls back on an exception."""
    with psycopg.connect(dsn) as connection:
        with connection.cursor() as cursor:
            yield cursor
