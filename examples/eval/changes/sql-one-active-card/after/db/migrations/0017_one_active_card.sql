-- One active card per customer, see docs/customer-cards.md.
BEGIN;

UPDATE cards
SET state = 'blocked',
    block_reason = 'duplicate'
WHERE state = 'active'
  AND EXISTS (
      SELECT 1
      FROM cards AS newer
      WHERE newer.customer_id = cards.customer_id
        AND newer.state = 'active'
        AND newer.id > cards.id
  );

-- NULLs are distinct in a unique index, so cards in stock are not limited.
CREATE UNIQUE INDEX one_active_card
    ON cards (customer_id)
    WHERE state = 'active';

COMMIT;
