SELECT e.id, e.awaited, NULL AS released FROM ended e
UNION ALL
SELECT NULL, NULL, queue FROM released
