-- A list of runs is sorted by time and read page by page.
CREATE INDEX runs_by_time ON runs (at, id);

-- The findings of one run. Without the index, all looks of the ledger would be read.
CREATE INDEX looks_by_run ON looks (run, outcome);
