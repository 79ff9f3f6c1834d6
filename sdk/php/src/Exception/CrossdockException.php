<?php

declare(strict_types=1);

namespace Crossdock\Exception;

use Crossdock\BatchResult;
use RuntimeException;

/**
 * Every exception of this library, except for a wrong use of the library itself (InvalidArgumentException).
 */
abstract class CrossdockException extends RuntimeException
{
    /**
     * With `submitMany()`: the results that arrived before the failure.
     *
     * @var list<BatchResult>
     */
    public array $results = [];
}
