-- Ties the tasks of `edges` to what they need, as far as it is not completed: `open_edges`.
, known AS (
    -- The lock makes a concurrent completion of one of these wait for us, or us for it.
    UPDATE assay_tasks t SET awaited = true
    WHERE t.id IN (SELECT needs FROM edges)
    RETURNING t.id, t.status
), open_edges AS MATERIALIZED (
    SELECT e.task, e.needs FROM edges e LEFT JOIN known k ON k.id = e.needs
    WHERE k.status IS DISTINCT FROM 'completed'
), bound AS (
    INSERT INTO assay_needs (task, needs) SELECT task, needs FROM open_edges ON CONFLICT DO NOTHING
), blocked AS (
    -- A task that is in line already may be named as one that waits for a new one.
    UPDATE assay_line l SET open = l.open + b.many
    FROM (
        SELECT o.task, count(DISTINCT o.needs)::int AS many FROM open_edges o
        WHERE NOT EXISTS (
            SELECT FROM assay_needs n WHERE n.task = o.task AND n.needs = o.needs
        )
        GROUP BY o.task
    ) b
    WHERE l.id = b.task
)
