<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * The service received fewer pre-alerts than were sent: something on the way has cut the request. Submit them again.
 */
final class IncompleteBatchException extends CrossdockException
{
    /** @internal */
    public static function throwIfCut(int $sent, int $received): void
    {
        if ($received !== $sent) {
            throw new self("The service received $received of $sent pre-alerts of a request. "
                . 'Submit them again: those that are stored are then duplicates.');
        }
    }
}
