<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * 409 `duplicate_...`: the record already exists. Do not send it again.
 */
final class DuplicateException extends ConflictException
{
}
