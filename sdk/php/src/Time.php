<?php

declare(strict_types=1);

namespace Crossdock;

use DateTimeImmutable;
use DateTimeZone;

/**
 * Times of the API.
 */
final class Time
{
    /**
     * Returns the time that a text of a response or a webhook means. It names no zone, and is in UTC.
     */
    public static function parse(string $text): DateTimeImmutable
    {
        return new DateTimeImmutable($text, new DateTimeZone('UTC'));
    }
}
