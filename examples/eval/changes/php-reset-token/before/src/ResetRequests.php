<?php

declare(strict_types=1);

namespace Account;

final class ResetRequest
{
    public function __construct(
        public readonly string $selector,
        public readonly string $secretHash,
        public readonly int $userId,
        public readonly int $requestedAt,
    ) {
    }
}

interface ResetRequests
{
    public function find(string $selector): ?ResetRequest;

    public function delete(string $selector): void;
}

interface Passwords
{
    /** Hashes and stores the password of the user. */
    public function set(int $userId, string $password): void;
}
