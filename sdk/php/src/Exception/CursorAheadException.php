<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * The sequence number is above the newest event: it is not one of this feed, for example after the service was restored from a
 * backup. No event would ever arrive. Read again from 0, and ignore the events whose `event_id` you know.
 */
final class CursorAheadException extends CrossdockException
{
    public function __construct(
        /** The number that was given. */
        public readonly int $after,
        /** The newest event of the feed. 0 if it has none. */
        public readonly int $lastSequence,
    ) {
        parent::__construct("The events end with $lastSequence, before $after, for example because the service was restored from "
            . 'a backup. Read again from 0, and ignore the events whose event_id you know.');
    }
}
