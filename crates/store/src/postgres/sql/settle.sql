WITH given AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::text[], $2::text[], $3::int8[], $4::timestamptz[], $5::text[], $6::int8[], $7::json[]
    ) AS g (id, holder, fence, until, status, rests, body)
), held AS MATERIALIZED (
    SELECT g.* FROM given g JOIN assay_line l ON l.id = g.id
    WHERE l.fence = g.fence AND l.holder IS NOT DISTINCT FROM g.holder
        AND (g.until IS NULL OR l.until = g.until)
    FOR UPDATE OF l
), gone AS (
    DELETE FROM assay_line l USING held h WHERE l.id = h.id AND h.status <> 'open'
), back AS (
    UPDATE assay_line l
    SET holder = NULL, while_alive = false, started = NULL, until = NULL, ticket = NULL,
        arrival = nextval('assay_arrivals'),
        rests = CASE WHEN h.rests > 0 THEN now() + h.rests * interval '1 millisecond' END
    FROM held h WHERE l.id = h.id AND h.status = 'open'
), ended AS (
    UPDATE assay_tasks t
    SET body = h.body, status = h.status, fence = h.fence, settled = $8::int8,
        ended = CASE WHEN h.status <> 'open' THEN now() END
    FROM held h WHERE t.id = h.id
    RETURNING t.id, t.status, t.awaited
), freed AS (
    DELETE FROM assay_needs n USING ended e WHERE n.needs = e.id AND e.status = 'completed'
    RETURNING n.task
), released AS (
    UPDATE assay_line l SET open = l.open - f.many
    FROM (SELECT task, count(*)::int AS many FROM freed GROUP BY task) f
    WHERE l.id = f.task
    RETURNING l.queue
)
