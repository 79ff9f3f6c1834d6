<?php

declare(strict_types=1);

namespace Crossdock;

/**
 * A change to one of the courier's packages, from a webhook or from the list of events.
 */
final class Event
{
    use FromJson;

    public function __construct(
        /** `package.created`, `package.updated`, `package.status_changed`, `webhook.test`, or a newer type. */
        public readonly string $type,
        /** The same when the event is sent again. Ignore an event_id that you have already processed. */
        public readonly string $event_id,
        /** Number of the event among all events of the courier. A URL gets only its types. Null for `webhook.test`. */
        public readonly ?int $sequence,
        /** When it happened, in UTC, `YYYY-MM-DD HH:MM:SS`. */
        public readonly string $timestamp,
        /** @var array<string, mixed> The package, as the reference describes it for the type. */
        public readonly array $data,
    ) {
    }
}
