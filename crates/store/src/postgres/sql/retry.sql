WITH again AS (
    UPDATE assay_tasks SET status = 'open', body = $3::json, ended = NULL
    WHERE id = $1::text AND status = $2::text
    RETURNING id, queue, priority, created, fence
), edges AS MATERIALIZED (
    SELECT again.id AS task, e.needs FROM again, unnest($4::text[]) AS e (needs)
), known AS (
    UPDATE assay_tasks t SET awaited = true
    WHERE t.id IN (SELECT needs FROM edges)
    RETURNING t.id, t.status
), open_edges AS MATERIALIZED (
    SELECT e.task, e.needs FROM edges e LEFT JOIN known k ON k.id = e.needs
    WHERE k.status IS DISTINCT FROM 'completed'
), bound AS (
    INSERT INTO assay_needs (task, needs) SELECT task, needs FROM open_edges ON CONFLICT DO NOTHING
)
INSERT INTO assay_line (id, queue, priority, created, fence, for_person, open)
SELECT a.id, a.queue, a.priority, a.created, a.fence, $5::bool,
    (SELECT count(*) FROM open_edges)::int
FROM again a
