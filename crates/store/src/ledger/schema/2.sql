-- The fact that shows that a finding is absent: `code_removed` or `not_reported`. NULL in other outcomes, and in runs that were
-- recorded before this version.
ALTER TABLE looks ADD COLUMN evidence TEXT;

-- The cost of each reviewer of a run that called a model. Runs that were recorded before this version have no rows.
CREATE TABLE report_costs (
    run          TEXT NOT NULL REFERENCES runs (id),
    reviewer     TEXT NOT NULL,
    model        TEXT,
    calls        INTEGER NOT NULL,
    kept_answers INTEGER NOT NULL,
    tokens       INTEGER NOT NULL,
    usd          REAL,
    at_most      INTEGER NOT NULL,
    PRIMARY KEY (run, reviewer)
) WITHOUT ROWID;

-- The cost of each model of a run, second looks included.
CREATE TABLE model_costs (
    run          TEXT NOT NULL REFERENCES runs (id),
    model        TEXT NOT NULL,
    calls        INTEGER NOT NULL,
    kept_answers INTEGER NOT NULL,
    tokens       INTEGER NOT NULL,
    usd          REAL,
    at_most      INTEGER NOT NULL,
    PRIMARY KEY (run, model)
) WITHOUT ROWID;

-- Statistics read every finding, and never its JSON: the index has all of their columns.
CREATE INDEX findings_by_time
    ON findings (first_seen, outcome, impact, category, rule, file, last_seen, seen_by, last_look);
