<?php

declare(strict_types=1);

namespace Crossdock\Exception;

/**
 * 429: too many requests or failures. `retryAfter` says how many seconds to wait.
 */
final class RateLimitException extends ApiException
{
}
