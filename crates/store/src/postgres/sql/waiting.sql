SELECT q.name,
    (SELECT count(*) FROM (
        SELECT FROM assay_line WHERE queue = q.name AND holder IS NULL AND open = 0
            AND rests IS NULL LIMIT $2::int8) ready)
    + (SELECT count(*) FROM (
        SELECT FROM assay_line WHERE queue = q.name AND holder IS NULL AND open = 0
            AND rests IS NOT NULL LIMIT $2::int8) resting)
    + (SELECT count(*) FROM (
        SELECT FROM assay_line WHERE queue = q.name AND open > 0 LIMIT $2::int8) waiting) AS many,
    (SELECT last_value FROM assay_arrivals) AS arrivals
FROM unnest($1::text[]) AS q (name)
