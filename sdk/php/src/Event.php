<?php

declare(strict_types=1);

namespace Crossdock;

use DateTimeImmutable;

/**
 * A change to one of the courier's packages, pre-alerts, bills or flights, from a webhook or from the list of events.
 */
class Event
{
    final public function __construct(
        /** For example `package.created`, `prealert.received` or `webhook.test`, or a type that is newer than this library. */
        public readonly string $type,
        /** The same when the event is sent again. Ignore an event_id that you have already processed. */
        public readonly string $event_id,
        /** Number of the event among all events of the courier. A URL gets only its types. Null for `webhook.test`. */
        public readonly ?int $sequence,
        /** When it happened, in UTC, `YYYY-MM-DD HH:MM:SS`. */
        public readonly string $timestamp,
        /** @var array<string, mixed> The package, pre-alert, bill or flight, as the reference describes it for the type. */
        public readonly array $data,
    ) {
    }

    /**
     * Returns the event as the class of its type, see the namespace `Crossdock\Event`. A type that this version of the library does not
     * know is an Event.
     *
     * @param array<string, mixed> $json
     */
    public static function fromJson(array $json): self
    {
        $class = EventTypes::CLASSES[$json['type']] ?? self::class;

        return new $class($json['type'], $json['event_id'], $json['sequence'], $json['timestamp'], $json['data']);
    }

    /**
     * When it happened.
     */
    public function time(): DateTimeImmutable
    {
        return Time::parse($this->timestamp);
    }
}
