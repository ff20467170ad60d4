CREATE TABLE customers (
    id    INTEGER PRIMARY KEY,
    name  TEXT NOT NULL
);

CREATE TABLE orders (
    id           INTEGER PRIMARY KEY,
    customer_id  INTEGER NOT NULL REFERENCES customers (id),
    -- open, paid, cancelled, refunded
    state        TEXT NOT NULL,
    -- in cents
    total        INTEGER NOT NULL CHECK (total >= 0)
);

CREATE INDEX orders_by_customer ON orders (customer_id);
