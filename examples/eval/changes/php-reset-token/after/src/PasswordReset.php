<?php

declare(strict_types=1);

namespace Account;

final class PasswordReset
{
    private const VALID_SECONDS = 60 * 60;
    private const MIN_LENGTH = 12;

    public function __construct(
        private readonly ResetRequests $requests,
        private readonly Passwords $passwords,
    ) {
    }

    /** Sets the new password if the link is valid; returns false for all refusals. */
    public function reset(string $selector, string $secret, string $password, int $now): bool
    {
        $request = $this->requests->find($selector);
        if ($request === null || !$this->isValid($request, $secret, $now)) {
            return false;
        }
        if (mb_strlen($password) < self::MIN_LENGTH) {
            return false;
        }
        $this->passwords->set($request->userId, $password);
        return true;
    }

    private function isValid(ResetRequest $request, string $secret, int $now): bool
    {
        if ($now - $request->requestedAt >= self::VALID_SECONDS) {
            return false;
        }
        return hash('sha256', $secret) == $request->secretHash;
    }
}
