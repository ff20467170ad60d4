<?php

declare(strict_types=1);

namespace Login;

interface FailureStore
{
    public function add(string $account, int $time): void;

    /**
     * Returns the times of the newest failures, the oldest of them first.
     *
     * @return list<int> at most $count times
     */
    public function newest(string $account, int $count): array;

    public function forget(string $account): void;
}
