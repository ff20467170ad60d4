<?php

declare(strict_types=1);

namespace Customers;

final class CustomerList
{
    private const LIMIT = 500;

    /** Columns by the sort key of the URL. */
    private const COLUMNS = [
        'name' => 'c.name',
        'city' => 'c.city',
        'since' => 'c.created_at',
    ];

    public function __construct(private readonly Database $database)
    {
    }

    /** @return list<array<string, mixed>> */
    public function rows(string $sort, string $desc, string $city): array
    {
        $column = self::COLUMNS[$sort] ?? self::COLUMNS['name'];
        $direction = $desc === '1' ? 'DESC' : 'ASC';
        $where = '';
        $parameters = [];
        if ($city !== '') {
            $where = 'WHERE c.city = ?';
            $parameters[] = $city;
        }
        return $this->database->select(
            "SELECT c.id, c.name, c.city, c.created_at
             FROM customers c
             $where
             ORDER BY $column $direction, c.id
             LIMIT " . self::LIMIT,
            $parameters
        );
    }
}
