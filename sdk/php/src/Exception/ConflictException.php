<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * 409: the request conflicts with another one, or with a record.
 */
class ConflictException extends ApiException
{
}
