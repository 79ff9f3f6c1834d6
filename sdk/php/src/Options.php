<?php

declare(strict_types=1);

namespace Crossdock;

use Closure;
use Crossdock\Http\RequestFactory;
use InvalidArgumentException;

/**
 * Settings of a client. Every setting has a default:
 *
 *     new Crossdock\Options(timeout: 60, maxRetries: 5)
 */
final class Options
{
    public readonly ?Closure $onAttempt;

    /**
     * @param float $timeout Seconds until a call is given up. For files: seconds without any progress.
     * @param float $connectTimeout Seconds until an attempt to connect is given up.
     * @param int $maxRetries How often a failed request is sent again. 0 sends each request once.
     * @param float $maxRetryWait The longest wait before a retry, in seconds. If the service asks for a longer one with
     *     `Retry-After`, the call fails at once, and the exception has `retryAfter`.
     * @param string|null $caFile File with trusted certificates (PEM), if the system's are missing or not sufficient.
     * @param string|null $proxy URL of an HTTP proxy.
     * @param float $lastAttempt No attempt begins later than these seconds after the first.
     * @param int $batchLines Pre-alerts per request of submitMany() and submitEach(), 1 to 1,000. A request must arrive within 10
     *     seconds, so a slow line needs fewer. After 408 the batch is halved, and the following ones too.
     * @param int $pageSize Records per page when a list is read over all pages, and the call sets no `limit`. At most what the
     *     operation allows.
     * @param callable(Attempt): void|null $onAttempt Called after each attempt of a call, for logs and metrics. What it throws is
     *     ignored.
     */
    public function __construct(
        public readonly float $timeout = Retries::ATTEMPT_SECONDS,
        public readonly float $connectTimeout = Retries::CONNECT_SECONDS,
        public readonly int $maxRetries = Retries::MAX_RETRIES,
        public readonly float $maxRetryWait = Retries::LONGEST_RETRY_AFTER_SECONDS,
        public readonly ?string $caFile = null,
        public readonly ?string $proxy = null,
        public readonly float $lastAttempt = Retries::LAST_ATTEMPT_SECONDS,
        public readonly int $batchLines = Retries::BATCH_LINES,
        public readonly int $pageSize = Retries::PAGE_SIZE,
        ?callable $onAttempt = null,
    ) {
        if ($batchLines < 1 || $batchLines > RequestFactory::BATCH_LINES) {
            throw new InvalidArgumentException('batchLines must be 1 to 1,000.');
        }
        if ($pageSize < 1) {
            throw new InvalidArgumentException('pageSize must be 1 or more.');
        }
        $this->onAttempt = $onAttempt === null ? null : $onAttempt(...);
    }
}
