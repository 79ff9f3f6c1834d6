<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * 5xx: the fault is on the side of the service.
 */
final class ServerException extends ApiException
{
}
