<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * 400, 413, 415, 422 and others: correct the request. `errors` names the wrong fields.
 */
final class InvalidRequestException extends ApiException
{
}
