<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * The user has two-factor authentication, and the client was created without `secondFactor`.
 */
final class SecondFactorRequiredException extends CrossdockException
{
}
