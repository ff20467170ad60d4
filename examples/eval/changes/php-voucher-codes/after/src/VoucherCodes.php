<?php

declare(strict_types=1);

namespace Vouchers;

use RuntimeException;

final class VoucherCodes
{
    private const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
    private const RANDOM_LENGTH = 9;
    private const CHECK_MODULUS = 31;
    private const MAX_TRIES = 10;

    public function __construct(private readonly VoucherStore $store)
    {
    }

    /** Creates, stores and returns a new code of the campaign. */
    public function create(string $campaign): string
    {
        for ($try = 0; $try < self::MAX_TRIES; $try++) {
            $body = '';
            for ($i = 0; $i < self::RANDOM_LENGTH; $i++) {
                $body .= self::ALPHABET[random_int(0, strlen(self::ALPHABET) - 1)];
            }
            $code = $body . self::checkCharacter($body);
            if ($this->store->insertIfAbsent($code, $campaign)) {
                return $code;
            }
        }
        throw new RuntimeException("campaign $campaign is full");
    }

    /** Returns the code in its stored form, null if the input cannot be a code. */
    public static function normalize(string $input): ?string
    {
        $code = strtoupper(str_replace([' ', '-'], '', $input));
        if (preg_match('/\A[2-9A-HJ-NP-Z]{10}\z/', $code) !== 1) {
            return null;
        }
        $body = substr($code, 0, self::RANDOM_LENGTH);
        return self::checkCharacter($body) === $code[self::RANDOM_LENGTH] ? $code : null;
    }

    /** Expects characters of the alphabet only. */
    private static function checkCharacter(string $body): string
    {
        $sum = 0;
        foreach (str_split($body) as $i => $character) {
            $sum += ($i + 1) * strpos(self::ALPHABET, $character);
        }
        return self::ALPHABET[$sum % self::CHECK_MODULUS];
    }
}
