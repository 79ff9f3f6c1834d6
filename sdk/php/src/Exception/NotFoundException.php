<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * 404: the record does not exist.
 */
final class NotFoundException extends ApiException
{
}
