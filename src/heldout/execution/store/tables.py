"""The statements that make the tables of a run file."""

from __future__ import annotations

SCHEMA_VERSION = 7
APPLICATION_ID = 0x68656C64
"""'held' in ASCII: distinguishes our files from those of other programs."""

TABLES = (
    # versions: a JSON list, one mapping for each change that was accepted; the last is the present one.
    # owner_*: the process that writes the file, or died writing it; NULL once closed.
    # opened, cells_then: when a process last took the run up, and how many cells were acknowledged by then;
    # acknowledged: when a cell last was. These three are for people and decide nothing. checksum: of what decides,
    # see store.identity_rows; never NULL.
    """CREATE TABLE run (
        number INTEGER PRIMARY KEY,
        rows TEXT NOT NULL, folds TEXT NOT NULL, configurations TEXT NOT NULL, settings TEXT NOT NULL,
        entropy TEXT NOT NULL,
        versions TEXT NOT NULL,
        created TEXT NOT NULL,
        owner_host TEXT, owner_pid INTEGER, owner_since TEXT,
        opened TEXT, cells_then INTEGER, acknowledged TEXT, checksum INTEGER
    )""",
    # id: sha256 of the configuration; position, name: in the search that wrote last, no part of identity.
    # note: JSON of what an adaptive search must know to propose it again.
    """CREATE TABLE configuration (
        number INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        id TEXT NOT NULL, position INTEGER NOT NULL, json TEXT NOT NULL, name TEXT, note TEXT,
        checksum INTEGER,
        UNIQUE (run, id)
    )""",
    # scores: {"test": {scorer: score}, "train": {...}}, as repr() writes a float64; with "shared" where the fit was
    # not made alone: {what: [seconds, bytes]}, "complexity" where it was counted: {unit: number}. checksum: of the
    # cell and its predictions, see ``checksum``; never NULL.
    """CREATE TABLE cell (
        number INTEGER PRIMARY KEY,
        configuration INTEGER NOT NULL REFERENCES configuration ON DELETE CASCADE,
        repeat INTEGER NOT NULL, fold INTEGER NOT NULL,
        state TEXT NOT NULL, attempts INTEGER NOT NULL, message TEXT NOT NULL,
        fit_seconds REAL NOT NULL, score_seconds REAL NOT NULL, scores TEXT NOT NULL, checksum INTEGER,
        UNIQUE (configuration, repeat, fold)
    )""",
    # dtype as NumPy writes it ('<f8'), shape a JSON list, blob the C-ordered array.
    """CREATE TABLE prediction (
        cell INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
        response TEXT NOT NULL, dtype TEXT NOT NULL, shape TEXT NOT NULL, blob BLOB NOT NULL,
        PRIMARY KEY (cell, response)
    )""",
    # What the run was started with, as the user wrote it: an option and its value. For the sentence on how two runs
    # differ.
    """CREATE TABLE terms (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        name TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (run, name)
    )""",
    # Configurations that were tested on the same splits; their cells have no rows of their own. cells: JSON, the
    # keys of the configurations, [repeat, fold] and test rows of each split, and what each configuration shared.
    """CREATE TABLE block (
        number INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        n_cells INTEGER NOT NULL, cells TEXT NOT NULL, checksum INTEGER NOT NULL
    )""",
    # kind: "prediction" (name: the response), "score" (name: the scorer), or "seconds" (name: "fit" or "score").
    """CREATE TABLE block_array (
        block INTEGER NOT NULL REFERENCES block ON DELETE CASCADE,
        kind TEXT NOT NULL, name TEXT NOT NULL, dtype TEXT NOT NULL, shape TEXT NOT NULL, blob BLOB NOT NULL,
        PRIMARY KEY (block, kind, name)
    )""",
    # What the estimate reads besides the cells; note: JSON, see store.search_note. No row for a protocol's run.
    """CREATE TABLE search (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        note TEXT NOT NULL, checksum INTEGER NOT NULL
    )""",
    # name: "target", "event", "groups", "weights", "test" or "train".
    """CREATE TABLE search_array (
        run INTEGER NOT NULL REFERENCES search ON DELETE CASCADE,
        name TEXT NOT NULL, dtype TEXT NOT NULL, shape TEXT NOT NULL, blob BLOB NOT NULL,
        PRIMARY KEY (run, name)
    )""",
    # The plan of a run and its dropped configurations, for inspection: a resumed run decides again from its cells.
    """CREATE TABLE plan (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        n_configurations INTEGER NOT NULL, n_splits INTEGER NOT NULL, n_cells INTEGER NOT NULL,
        n_rows INTEGER, metric TEXT NOT NULL, title TEXT NOT NULL
    )""",
    # race: the repeat of the race's first split, which no other race has; splits: JSON, [repeat, fold] of each as
    # they are met. after: how many of these all remaining configurations had done. risk: NULL for NaN.
    """CREATE TABLE barrier (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        race INTEGER NOT NULL, after INTEGER NOT NULL, splits TEXT NOT NULL,
        n_rows INTEGER NOT NULL, n_before INTEGER NOT NULL,
        leader INTEGER NOT NULL REFERENCES configuration ON DELETE CASCADE,
        risk REAL, stopped INTEGER NOT NULL,
        PRIMARY KEY (run, race, after)
    )""",
    # Which configurations left at which barrier, and on what evidence. statistic: as repr() writes a float64.
    """CREATE TABLE "drop" (
        configuration INTEGER NOT NULL REFERENCES configuration ON DELETE CASCADE,
        race INTEGER NOT NULL, barrier INTEGER NOT NULL,
        statistic TEXT NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY (configuration, race)
    )""",
)
