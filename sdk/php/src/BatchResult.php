<?php

declare(strict_types=1);

namespace Crossdock;

/**
 * The result of one pre-alert of many.
 */
final class BatchResult
{
    use FromJson;

    public function __construct(
        /** The position of the pre-alert. The first is 1. */
        public readonly int $line,
        /** `created`, `duplicate`, `unknown_customer`, `invalid`, or a newer one. */
        public readonly string $status,
        /** Text for people. */
        public readonly string $message,
        /** Only if it was created. */
        public readonly ?string $prealert_id = null,
        /** The code of a single call, see ErrorCode. Only if it was not created. */
        public readonly ?string $code = null,
        /** @var list<array{field: string, code: string, message: string}> The wrong fields, as of a single call. */
        public readonly array $errors = [],
        /**
         * @var array{prealert_id: string, user_code: string, status: string, differs: bool}|null The stored pre-alert of a
         *     duplicate. If `differs` is true, it belongs to another customer, and yours was not stored.
         */
        public readonly ?array $existing = null,
        /** @var list<array{code: string, message: string}> What was stored although it may be wrong, as of a single call. */
        public readonly array $warnings = [],
    ) {
    }
}
