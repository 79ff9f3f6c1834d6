<?php

declare(strict_types=1);

namespace Crossdock;

use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;

/**
 * Times of the API.
 */
final class Time
{
    /**
     * Returns the time that a text of a response or a webhook means. It is in UTC, also if it names no zone.
     */
    public static function parse(string $text): DateTimeImmutable
    {
        return new DateTimeImmutable($text, new DateTimeZone('UTC'));
    }

    /**
     * Returns a time as the service reads it, in UTC and without a zone. Filters and fields take a DateTimeInterface too.
     */
    public static function format(DateTimeInterface $time): string
    {
        return gmdate('Y-m-d H:i:s', $time->getTimestamp());
    }
}
