"""A run file as heldout 0.1 made it: the statements of schema 1, word for word."""

import json
import sqlite3
from contextlib import closing

APPLICATION_ID = 0x68656C64
STATEMENTS = (
    """CREATE TABLE run (
        number INTEGER PRIMARY KEY,
        rows TEXT NOT NULL, folds TEXT NOT NULL, configurations TEXT NOT NULL, settings TEXT NOT NULL,
        entropy TEXT NOT NULL,
        versions TEXT NOT NULL,
        created TEXT NOT NULL,
        owner_host TEXT, owner_pid INTEGER, owner_since TEXT
    )""",
    """CREATE TABLE configuration (
        number INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        id TEXT NOT NULL, position INTEGER NOT NULL, json TEXT NOT NULL,
        UNIQUE (run, id)
    )""",
    """CREATE TABLE cell (
        number INTEGER PRIMARY KEY,
        configuration INTEGER NOT NULL REFERENCES configuration ON DELETE CASCADE,
        repeat INTEGER NOT NULL, fold INTEGER NOT NULL,
        state TEXT NOT NULL, attempts INTEGER NOT NULL, message TEXT NOT NULL,
        fit_seconds REAL NOT NULL, score_seconds REAL NOT NULL, scores TEXT NOT NULL,
        UNIQUE (configuration, repeat, fold)
    )""",
    """CREATE TABLE prediction (
        cell INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
        response TEXT NOT NULL, dtype TEXT NOT NULL, shape TEXT NOT NULL, blob BLOB NOT NULL,
        PRIMARY KEY (cell, response)
    )""",
    """CREATE TABLE "drop" (
        barrier INTEGER NOT NULL,
        configuration INTEGER NOT NULL REFERENCES configuration ON DELETE CASCADE,
        statistic TEXT NOT NULL,
        PRIMARY KEY (configuration, barrier)
    )""",
)


def write(path, identity, configurations, cells):
    """A run closed in order, with one cell of 3 predictions for each (position, repeat, fold, score)."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        for statement in STATEMENTS:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        connection.execute(
            "INSERT INTO run (rows, folds, configurations, settings, entropy, versions, created) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                identity.rows,
                identity.folds,
                identity.configurations,
                identity.settings,
                f"{identity.entropy:016x}",
                json.dumps([dict(identity.versions)]),
                "2026-01-02T03:04:05+00:00",
            ),
        )
        connection.executemany(
            "INSERT INTO configuration (run, id, position, json) VALUES (1, ?, ?, ?)",
            [(key, position, text) for position, (key, text) in enumerate(configurations)],
        )
        for number, (position, repeat, fold, score) in enumerate(cells, 1):
            connection.execute(
                "INSERT INTO cell VALUES (?, ?, ?, ?, 'done', 1, '', 0.5, 0.25, ?)",
                (number, position + 1, repeat, fold, json.dumps({"test": {"score": score}, "train": {}})),
            )
            three = b"\0\0\0\0\0\0\xf8\x3f" * 3  # 1.5
            connection.execute("INSERT INTO prediction VALUES (?, 'decision', '<f8', '[3]', ?)", (number, three))
        connection.execute("COMMIT")
