WITH freed AS (
    DELETE FROM assay_needs n USING assay_tasks t
    WHERE ($1::text[] IS NULL OR n.needs = ANY ($1::text[]))
        AND t.id = n.needs AND t.status = 'completed'
    RETURNING n.task
)
UPDATE assay_line l SET open = l.open - f.many
FROM (SELECT task, count(*)::int AS many FROM freed GROUP BY task) f
WHERE l.id = f.task
RETURNING l.queue
