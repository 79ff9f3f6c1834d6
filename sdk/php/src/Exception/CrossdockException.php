<?php

declare(strict_types=1);

namespace Crossdock\Exception;

use RuntimeException;

/**
 * Every exception of this library, except for a wrong use of the library itself (InvalidArgumentException).
 */
abstract class CrossdockException extends RuntimeException
{
}
