<?php

declare(strict_types=1);

namespace Login;

final class LoginThrottle
{
    private const MAX_FAILURES = 5;
    private const WINDOW_SECONDS = 15 * 60;
    private const LOCK_SECONDS = 30 * 60;

    public function __construct(private readonly FailureStore $failures)
    {
    }

    /** Returns true if no password of the account is checked at the time. */
    public function isLocked(string $account, int $now): bool
    {
        $times = $this->failures->newest($account, self::MAX_FAILURES);
        if (count($times) < self::MAX_FAILURES) {
            return false;
        }
        $first = $times[0];
        $last = $times[self::MAX_FAILURES - 1];
        if ($last - $first > self::WINDOW_SECONDS) {
            return false;
        }
        return $now < $first + self::LOCK_SECONDS;
    }

    /**
     * Signs in with the check of the password.
     *
     * @param callable(): bool $checkPassword
     */
    public function signIn(string $account, callable $checkPassword, int $now): bool
    {
        if ($this->isLocked($account, $now)) {
            return false;
        }
        if ($checkPassword()) {
            $this->failures->forget($account);
            return true;
        }
        $this->failures->add($account, $now);
        return false;
    }
}
