SELECT t.queue, t.status, t.body, COALESCE(l.fence, t.fence), l.holder, l.started,
    COALESCE(l.open, 0), l.until, COALESCE(l.while_alive, false),
    (extract(epoch FROM l.rests - now()) * 1000)::int8,
    (extract(epoch FROM l.until - now()) * 1000)::int8,
    COALESCE(l.while_alive AND NOT EXISTS (
        SELECT FROM assay_agents a WHERE a.name = l.holder AND (a.alive_until > now()
            OR pg_postmaster_start_time() > now() - interval '30 seconds')
    ), false)
