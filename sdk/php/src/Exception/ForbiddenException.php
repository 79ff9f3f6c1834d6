<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * 403: the key is not valid, the account is disabled, or the permission is missing.
 */
final class ForbiddenException extends ApiException
{
}
