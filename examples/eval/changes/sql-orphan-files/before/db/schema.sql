CREATE TABLE attachments (
    id          INTEGER PRIMARY KEY,
    file_name   TEXT NOT NULL,
    created_at  TEXT NOT NULL
);

CREATE TABLE messages (
    id             INTEGER PRIMARY KEY,
    body           TEXT NOT NULL,
    -- NULL for a message without an attachment
    attachment_id  INTEGER REFERENCES attachments (id)
);

CREATE TABLE maintenance_log (
    id       INTEGER PRIMARY KEY,
    task     TEXT NOT NULL,
    removed  INTEGER NOT NULL,
    done_at  TEXT NOT NULL
);
