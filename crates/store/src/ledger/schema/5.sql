-- The checkout in which a run saw a finding in code that is in no commit. NULL for committed code, and in runs that were recorded before
-- this version.
ALTER TABLE looks ADD COLUMN checkout TEXT;

-- The author of the line of a finding, as git names the author: an email address.
CREATE TABLE finding_authors (
    finding INTEGER PRIMARY KEY REFERENCES findings (key),
    author  TEXT NOT NULL
);
