<?php

declare(strict_types=1);

namespace Crossdock;

use Crossdock\Exception\ConnectionException;

/**
 * One attempt of a call, for Options::$onAttempt. It has no credential, no body, no query and no record, so that it can be logged.
 */
final class Attempt
{
    public function __construct(
        /** The operation, as the API reference names it. */
        public readonly string $operation,
        /** Counts from 1. A later one is a repetition. A new login, and the call after it, count from 1 again. */
        public readonly int $number,
        /** Until the whole response was read. */
        public readonly float $durationMs,
        /** The HTTP status. Null if there was no response. */
        public readonly ?int $status,
        /** Quote it when you contact us. */
        public readonly ?string $requestId,
        /** Why there was no response. */
        public readonly ?ConnectionException $failure,
    ) {
    }
}
