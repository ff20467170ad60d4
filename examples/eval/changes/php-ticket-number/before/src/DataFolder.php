<?php

declare(strict_types=1);

namespace Tickets;

final class DataFolder
{
    /** $path is an existing folder that only the workers write to. */
    public function __construct(private readonly string $path)
    {
    }

    public function file(string $name): string
    {
        return $this->path . '/' . $name;
    }
}
