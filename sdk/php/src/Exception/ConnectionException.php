<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * There was no response, after all retries: no connection, a timeout, a broken certificate, or a response that was lost or cut.
 */
final class ConnectionException extends CrossdockException
{
    /**
     * @param bool $wasSent Whether the service may have received the request, and may have executed it.
     * @param bool $isTimeout Whether the time limit of the last attempt passed.
     */
    public function __construct(
        string $reason,
        public readonly bool $wasSent,
        public readonly bool $isTimeout = false,
    ) {
        parent::__construct("No response from the service: $reason");
    }
}
