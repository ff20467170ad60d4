WITH given AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::text[], $2::text[], $3::int2[], $4::timestamptz[], $5::json[], $10::bool[],
        $11::timestamptz[]
    ) AS g (id, queue, priority, created, body, for_person, run_at)
    WHERE (SELECT last_value FROM assay_arrivals) + cardinality($1::text[]) <= $9::int8
), put AS (
    INSERT INTO assay_tasks (id, queue, priority, created, pushed, body)
    SELECT id, queue, priority, created, $8::int8, body FROM given
), line AS (
    SELECT id, queue, priority, created, 0::int8 AS fence, for_person, run_at FROM given
), edges AS MATERIALIZED (
    SELECT e.task, e.needs FROM unnest($6::text[], $7::text[]) AS e (task, needs)
    WHERE EXISTS (SELECT FROM given)
)
