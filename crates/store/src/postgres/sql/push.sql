WITH given AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::text[], $2::text[], $3::int2[], $4::timestamptz[], $5::json[], $10::bool[]
    ) AS g (id, queue, priority, created, body, for_person)
    WHERE (SELECT last_value FROM assay_arrivals) + cardinality($1::text[]) <= $9::int8
), edges AS MATERIALIZED (
    SELECT e.task, e.needs FROM unnest($6::text[], $7::text[]) AS e (task, needs)
    WHERE EXISTS (SELECT FROM given)
), known AS (
    -- The lock makes whoever completes one of these wait, or us for them.
    UPDATE assay_tasks t SET awaited = true
    WHERE t.id IN (SELECT needs FROM edges)
    RETURNING t.id, t.status
), open_edges AS MATERIALIZED (
    SELECT e.task, e.needs FROM edges e LEFT JOIN known k ON k.id = e.needs
    WHERE k.status IS DISTINCT FROM 'completed'
), bound AS (
    INSERT INTO assay_needs (task, needs) SELECT task, needs FROM open_edges ON CONFLICT DO NOTHING
), put AS (
    INSERT INTO assay_tasks (id, queue, priority, created, pushed, body)
    SELECT id, queue, priority, created, $8::int8, body FROM given
)
INSERT INTO assay_line (id, queue, priority, created, for_person, open)
SELECT g.id, g.queue, g.priority, g.created, g.for_person,
    (SELECT count(*) FROM open_edges o WHERE o.task = g.id)::int
FROM given g
