<?php

declare(strict_types=1);

namespace Orders;

final class Like
{
    /** Returns a pattern for LIKE ... ESCAPE '!' that finds the text anywhere. */
    public static function containing(string $text): string
    {
        return '%' . strtr($text, ['!' => '!!', '%' => '!%', '_' => '!_']) . '%';
    }
}
