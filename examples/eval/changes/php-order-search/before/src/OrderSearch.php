<?php

declare(strict_types=1);

namespace Orders;

use PDO;

final class OrderSearch
{
    public function __construct(private readonly PDO $db)
    {
    }

    /**
     * Returns the newest orders of the customers with the name.
     *
     * @return list<array<string, mixed>>
     */
    public function byCustomer(string $customer): array
    {
        $statement = $this->db->prepare(
            "SELECT id, number, customer, created_at, total_cents
             FROM orders
             WHERE customer LIKE :customer ESCAPE '!'
             ORDER BY created_at DESC, id DESC
             LIMIT 50"
        );
        $statement->bindValue('customer', Like::containing($customer));
        $statement->execute();

        return $statement->fetchAll(PDO::FETCH_ASSOC);
    }
}
