-- A page of findings in one state is read by this index alone: the JSON of a finding comes before its outcome in the row, so that
-- a look at the outcome would read the JSON of every finding.
DROP INDEX findings_by_weight;
CREATE INDEX findings_by_weight ON findings (impact, first_seen, key, outcome, category);
