-- Moments are milliseconds since 1970 in UTC, days are text such as 2026-12-31.

-- A review that was kept, and what it cost.
CREATE TABLE runs (
    id           TEXT PRIMARY KEY,
    at           INTEGER NOT NULL,
    change       TEXT NOT NULL,
    branch       TEXT,
    head         TEXT,
    verdict      TEXT NOT NULL,
    complete     INTEGER NOT NULL,
    calls        INTEGER NOT NULL,
    kept_answers INTEGER NOT NULL,
    tokens       INTEGER NOT NULL,
    usd          REAL,
    at_most      INTEGER NOT NULL
);

-- One defect: what was last seen of it (its id is what the newest run calls it), and what the newest look at it came to. With no file it is
-- about the change as a whole.
CREATE TABLE findings (
    key         INTEGER PRIMARY KEY,
    id          TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    file        TEXT NOT NULL,
    line        INTEGER,
    title       TEXT NOT NULL,
    severity    TEXT NOT NULL,
    impact      INTEGER NOT NULL,
    category    TEXT NOT NULL,
    rule        TEXT,
    finding     TEXT NOT NULL,
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    seen_by     TEXT NOT NULL REFERENCES runs (id),
    last_look   INTEGER NOT NULL,
    looked_by   TEXT NOT NULL REFERENCES runs (id),
    outcome     TEXT NOT NULL,
    UNIQUE (fingerprint, file)
);
CREATE INDEX findings_by_id ON findings (id);
CREATE INDEX findings_by_file ON findings (file);
CREATE INDEX findings_by_weight ON findings (impact, first_seen);

-- What a run made of a finding; `before` tells what the file was compared with.
CREATE TABLE looks (
    run     TEXT NOT NULL REFERENCES runs (id),
    finding INTEGER NOT NULL REFERENCES findings (key),
    outcome TEXT NOT NULL,
    called  TEXT,
    file    TEXT,
    line    INTEGER,
    before  TEXT,
    why     TEXT,
    PRIMARY KEY (finding, run)
) WITHOUT ROWID;
CREATE INDEX looks_by_name ON looks (called);

-- What each reviewer said, as it said it.
CREATE TABLE votes (
    run        TEXT NOT NULL REFERENCES runs (id),
    finding    INTEGER NOT NULL REFERENCES findings (key),
    reviewer   TEXT NOT NULL,
    number     INTEGER NOT NULL,
    severity   TEXT NOT NULL,
    confidence INTEGER,
    vote       TEXT NOT NULL,
    PRIMARY KEY (finding, run, reviewer, number)
) WITHOUT ROWID;
CREATE INDEX votes_by_reviewer ON votes (reviewer, finding);

-- Who decided to leave a finding, why, up to which day, and who took that back.
CREATE TABLE dismissals (
    key      INTEGER PRIMARY KEY,
    finding  INTEGER NOT NULL REFERENCES findings (key),
    by       TEXT NOT NULL,
    reason   TEXT NOT NULL,
    at       INTEGER NOT NULL,
    until    TEXT,
    ended    INTEGER,
    ended_by TEXT
);
CREATE INDEX dismissals_by_finding ON dismissals (finding);
CREATE UNIQUE INDEX dismissals_in_force ON dismissals (finding) WHERE ended IS NULL;
