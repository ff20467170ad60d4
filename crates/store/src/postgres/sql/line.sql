-- Puts the tasks of `line` where they can be claimed, once they wait for nothing of `open_edges`.
INSERT INTO assay_line (id, queue, priority, created, fence, for_person, open)
SELECT l.id, l.queue, l.priority, l.created, l.fence, l.for_person,
    (SELECT count(*) FROM open_edges o WHERE o.task = l.id)::int
FROM line l
