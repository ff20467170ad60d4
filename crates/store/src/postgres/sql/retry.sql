WITH again AS (
    UPDATE assay_tasks SET status = 'open', body = $3::json, ended = NULL
    WHERE id = $1::text AND status = $2::text
    RETURNING id, queue, priority, created, fence
), line AS (
    SELECT id, queue, priority, created, fence, $5::bool AS for_person,
        $6::timestamptz AS run_at
    FROM again
), edges AS MATERIALIZED (
    SELECT again.id AS task, e.needs FROM again, unnest($4::text[]) AS e (needs)
)
