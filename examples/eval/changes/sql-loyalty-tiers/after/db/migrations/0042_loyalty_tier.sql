-- Adds the loyalty tier, see docs/loyalty.md.
BEGIN;

ALTER TABLE customers
    ADD COLUMN tier TEXT NOT NULL DEFAULT 'basic'
    CHECK (tier IN ('basic', 'silver', 'gold'));

UPDATE customers
SET tier = (
    SELECT CASE
               WHEN COALESCE(SUM(orders.total), 0) >= 1000 THEN 'gold'
               WHEN COALESCE(SUM(orders.total), 0) >= 250 THEN 'silver'
               ELSE 'basic'
           END
    FROM orders
    WHERE orders.customer_id = customers.id
      AND orders.state = 'paid'
);

CREATE INDEX customers_by_tier ON customers (tier);

COMMIT;
