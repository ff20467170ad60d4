-- Claims up to $2 tasks of a queue for one holder. Two claims at the same time never get the same
-- task: a claim locks the rows that it picks, and SKIP LOCKED passes over rows that another claim
-- has locked. The columns are described in 1-tables.sql.
--
-- `due` is true if the back-off of a task has ended: then no task is picked, and the caller ends
-- the back-off first. `hungry` is true if the queue is marked as having a waiting consumer.
WITH gate AS MATERIALIZED (
    SELECT
        $6::bool AND EXISTS (
            SELECT FROM assay_line WHERE queue = $1::text AND rests <= now()
                AND holder IS NULL AND open = 0 AND rests IS NOT NULL
        ) AS due,
        COALESCE((SELECT hungry FROM assay_queues WHERE name = $1::text), false) AS hungry
), picked AS MATERIALIZED (
    SELECT id FROM assay_line
    WHERE queue = $1::text AND holder IS NULL AND open = 0 AND rests IS NULL
        /* open to */
        AND NOT (SELECT due FROM gate)
    ORDER BY priority, created, id
    LIMIT $2::int8
    FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE assay_line l
    SET holder = $3::text, while_alive = $4::bool, started = now(), fence = l.fence + 1,
        until = now() + $5::int8 * interval '1 millisecond', ticket = $7::int8
    FROM picked p WHERE l.id = p.id
    RETURNING l.id, l.priority, l.created, l.fence
)
SELECT g.due, g.hungry, now() AS started, c.id, c.fence, c.body
FROM gate g LEFT JOIN (
    SELECT k.id, k.priority, k.created, k.fence, t.body FROM taken k JOIN assay_tasks t ON t.id = k.id
) c ON true
ORDER BY c.priority, c.created, c.id
