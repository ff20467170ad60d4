CREATE TABLE cards (
    id            INTEGER PRIMARY KEY,
    -- NULL for a card in stock
    customer_id   INTEGER,
    -- active or blocked
    state         TEXT NOT NULL,
    block_reason  TEXT
);
