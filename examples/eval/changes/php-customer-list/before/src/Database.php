<?php

declare(strict_types=1);

namespace Customers;

interface Database
{
    /**
     * Runs a query with positional parameters.
     *
     * @param list<string> $parameters
     * @return list<array<string, mixed>>
     */
    public function select(string $sql, array $parameters): array;
}
