<?php

declare(strict_types=1);

namespace Orders;

use PDO;

final class OrderSearch
{
    private const PAGE_SIZE = 50;

    public function __construct(private readonly PDO $db)
    {
    }

    /**
     * Returns one page of orders.
     *
     * @param array<string, string> $query parameters of the request
     * @return list<array<string, mixed>>
     */
    public function page(array $query): array
    {
        $sort = $query['sort'] ?? 'created_at';
        $direction = ($query['dir'] ?? 'desc') === 'asc' ? 'ASC' : 'DESC';
        $page = max(1, (int) ($query['page'] ?? '1'));

        $statement = $this->db->prepare(
            "SELECT id, number, customer, created_at, total_cents
             FROM orders
             WHERE customer LIKE :customer ESCAPE '!'
             ORDER BY $sort $direction, id $direction
             LIMIT :size OFFSET :start"
        );
        $statement->bindValue('customer', Like::containing($query['customer'] ?? ''));
        $statement->bindValue('size', self::PAGE_SIZE, PDO::PARAM_INT);
        $statement->bindValue('start', ($page - 1) * self::PAGE_SIZE, PDO::PARAM_INT);
        $statement->execute();

        return $statement->fetchAll(PDO::FETCH_ASSOC);
    }
}
