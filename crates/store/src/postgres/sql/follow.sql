-- What follows from what was settled just now: new tasks in line, and what they need.
, follow AS MATERIALIZED (
    SELECT * FROM unnest(
        $9::text[], $10::text[], $11::text[], $12::int2[], $13::timestamptz[], $14::json[],
        $17::bool[], $18::timestamptz[]
    ) AS g (parent, id, queue, priority, created, body, for_person, run_at)
    WHERE g.parent IN (SELECT id FROM held)
), put AS (
    INSERT INTO assay_tasks (id, queue, priority, created, pushed, body)
    SELECT id, queue, priority, created, $8::int8, body FROM follow
    ON CONFLICT (id) DO NOTHING
    RETURNING id
), line AS (
    SELECT f.id, f.queue, f.priority, f.created, 0::int8 AS fence, f.for_person, f.run_at
    FROM follow f JOIN put p ON p.id = f.id
), edges AS MATERIALIZED (
    SELECT e.task, e.needs FROM unnest($15::text[], $16::text[]) AS e (task, needs)
    WHERE e.task IN (SELECT id FROM put) OR e.needs IN (SELECT id FROM put)
)
