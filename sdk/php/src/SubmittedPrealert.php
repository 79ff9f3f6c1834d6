<?php

declare(strict_types=1);

namespace Crossdock;

use Stringable;

/**
 * A pre-alert that was stored. As a text it is its `prealert_id`.
 */
final class SubmittedPrealert implements Stringable
{
    use FromJson;

    public function __construct(
        public readonly string $prealert_id,
        /**
         * @var list<array{code: string, message: string}> What was stored although it may be wrong: `unlikely_number`, or
         *     `ignored_field` for a field that was lost. Show the messages to a person.
         */
        public readonly array $warnings = [],
    ) {
    }

    public function __toString(): string
    {
        return $this->prealert_id;
    }
}
