<?php

declare(strict_types=1);

namespace Crossdock;

/**
 * The response to an operation.
 */
final class Result
{
    /**
     * @param array<mixed> $data The payload, as the reference describes it for the operation.
     * @param array<string, mixed> $meta Pages and counts of a list.
     * @param string $message Text for people. Do not branch on it.
     * @param string $requestId Log it. Quote it when you contact us.
     * @param bool $isReplay Whether this is the stored response to an earlier request with the same Idempotency-Key.
     * @param array<string, mixed> $json The whole body.
     */
    public function __construct(
        public readonly array $data,
        public readonly array $meta,
        public readonly string $message,
        public readonly string $requestId,
        public readonly bool $isReplay,
        public readonly array $json,
    ) {
    }
}
