<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * There was no response: no connection, a timeout, a lost connection, or a broken certificate.
 */
final class ConnectionException extends CrossdockException
{
    /**
     * @param bool $wasSent Whether the service may have received the request, and may have executed it.
     */
    public function __construct(string $reason, public readonly bool $wasSent)
    {
        parent::__construct("No response from the service: $reason");
    }
}
