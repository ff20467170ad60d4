<?php

declare(strict_types=1);

namespace Dunning;

interface Mailer
{
    /**
     * Hands a mail over to the mail server. Returns false if the server did not accept
     * it or was not reachable; does not throw.
     */
    public function send(string $address, string $template, array $values): bool;
}
