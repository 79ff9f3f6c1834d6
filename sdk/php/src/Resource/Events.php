<?php

declare(strict_types=1);

namespace Crossdock\Resource;

use Crossdock\Client;
use Crossdock\Event;
use Generator;

/**
 * The events of a courier: the same as in its webhooks, in order and without gaps.
 */
final class Events
{
    /**
     * @internal
     */
    public function __construct(private readonly Client $client)
    {
    }

    /**
     * Returns all events after a sequence number, oldest first, and ends at the newest one.
     *
     * Store the `sequence` of each event with your work on it. Continue from there next time:
     *
     *     foreach ($crossdock->events->after($cursor) as $event) {
     *         $database->apply($event);
     *         $database->saveCursor($event->sequence);
     *     }
     *
     * @param int $sequence The last event that you have processed. 0 starts with the oldest stored event.
     * @param string|null $courierId Required for staff.
     * @param int $limit Events per request.
     * @return Generator<int, Event>
     * @throws \Crossdock\Exception\CursorAheadException if the sequence number is above the newest event, for example after the service
     *     was restored from a backup. Read again from 0, and ignore the events whose `event_id` you know.
     */
    public function after(int $sequence = 0, ?string $courierId = null, int $limit = 500): Generator
    {
        $query = ['after' => $sequence, 'courier_id' => $courierId, 'limit' => $limit];
        foreach ($this->client->each('listEvents', $query) as $event) {
            yield Event::fromJson($event);
        }
    }
}
