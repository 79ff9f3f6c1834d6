<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * 401: the key is missing, or the user name, the password or the second factor is wrong.
 */
final class AuthenticationException extends ApiException
{
}
