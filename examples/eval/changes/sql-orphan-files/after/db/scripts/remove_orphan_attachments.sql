-- Removes attachments that no message names, see docs/attachment-cleanup.md.
BEGIN;

CREATE TEMP TABLE orphans AS
SELECT id
FROM attachments
WHERE created_at < datetime('now', '-7 days')
  AND id NOT IN (SELECT attachment_id FROM messages);

DELETE FROM attachments
WHERE id IN (SELECT id FROM orphans);

INSERT INTO maintenance_log (task, removed, done_at)
SELECT 'remove-orphan-attachments', COUNT(*), datetime('now')
FROM orphans;

DROP TABLE orphans;

COMMIT;
