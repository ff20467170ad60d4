-- Puts the tasks of `line` where they can be claimed, once they wait for nothing of `open_edges`.
INSERT INTO assay_line (id, queue, priority, created, fence, for_person, rests, open)
SELECT l.id, l.queue, l.priority, l.created, l.fence, l.for_person,
    CASE WHEN l.run_at > now() THEN l.run_at END,
    (
        SELECT count(*) FROM (
            SELECT o.needs FROM open_edges o WHERE o.task = l.id
            UNION
            -- A task that came earlier may have said that this one waits for it.
            SELECT n.needs FROM assay_needs n WHERE n.task = l.id
        ) AS needed
    )::int
FROM line l
