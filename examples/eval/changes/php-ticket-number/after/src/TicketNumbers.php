<?php

declare(strict_types=1);

namespace Tickets;

use RuntimeException;

final class TicketNumbers
{
    public function __construct(private readonly DataFolder $folder)
    {
    }

    /** Returns the next ticket number of the year. */
    public function next(int $year): string
    {
        $file = $this->folder->file("tickets-$year");
        $number = $this->read($file) + 1;
        if (file_put_contents($file, (string) $number) === false) {
            throw new RuntimeException("cannot write $file");
        }
        return sprintf('%d-%05d', $year, $number);
    }

    private function read(string $file): int
    {
        if (!file_exists($file)) {
            return 0;
        }
        $content = file_get_contents($file);
        if ($content === false || preg_match('/\A[0-9]{1,9}\z/', $content) !== 1) {
            throw new RuntimeException("damaged counter $file");
        }
        return (int) $content;
    }
}
