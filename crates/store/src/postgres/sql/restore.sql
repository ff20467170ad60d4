WITH given AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::text[], $2::text[], $3::int2[], $4::timestamptz[], $5::json[], $6::text[],
        $7::timestamptz[], $8::int8[], $12::bool[]
    ) AS g (id, queue, priority, created, body, status, ended, rests, for_person)
), put AS (
    INSERT INTO assay_tasks (id, queue, priority, created, status, ended, pushed, body)
    SELECT id, queue, priority, created, status,
        CASE WHEN status <> 'open' THEN COALESCE(ended, now()) END, $11::int8, body
    FROM given
    ON CONFLICT (id) DO NOTHING
    RETURNING id
), line AS MATERIALIZED (
    SELECT g.* FROM given g JOIN put p ON p.id = g.id WHERE g.status = 'open'
), edges AS MATERIALIZED (
    SELECT e.task, e.needs FROM unnest($9::text[], $10::text[]) AS e (task, needs)
    WHERE e.task IN (SELECT id FROM line) OR e.needs IN (SELECT id FROM line)
), bound AS (
    INSERT INTO assay_needs (task, needs) SELECT task, needs FROM edges ON CONFLICT DO NOTHING
), blocked AS (
    -- A task that was restored earlier may be named as one that waits for one of these.
    UPDATE assay_line l SET open = l.open + b.many
    FROM (
        SELECT e.task, count(DISTINCT e.needs)::int AS many FROM edges e
        WHERE NOT EXISTS (
            SELECT FROM assay_needs n WHERE n.task = e.task AND n.needs = e.needs
        )
        GROUP BY e.task
    ) b
    WHERE l.id = b.task
), lined AS (
    INSERT INTO assay_line (id, queue, priority, created, for_person, open, rests)
    SELECT l.id, l.queue, l.priority, l.created, l.for_person,
        (
            SELECT count(*) FROM (
                SELECT e.needs FROM edges e WHERE e.task = l.id
                UNION
                SELECT n.needs FROM assay_needs n WHERE n.task = l.id
            ) AS needed
        )::int,
        CASE WHEN l.rests > 0 THEN now() + l.rests * interval '1 millisecond' END
    FROM line l
)
SELECT count(*) FROM put
