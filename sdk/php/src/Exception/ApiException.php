<?php

declare(strict_types=1);

namespace Crossdock\Exception;

use Crossdock\Http\Response;

/**
 * The service refused the request. The subclass follows from the HTTP status, the exact reason is code():
 *
 *     try {
 *         $crossdock->submit(['UserCode' => 'IEX-1001', 'TrackingNumber' => '1Z999AA10123456784']);
 *     } catch (Crossdock\Exception\DuplicateException $duplicate) {
 *         // announced before. If $duplicate->existing['differs'] is true, for another customer
 *     } catch (Crossdock\Exception\ApiException $failure) {
 *         if ($failure->is('unknown_user_code')) { ... }
 *     }
 */
class ApiException extends CrossdockException
{
    /**
     * @param int $status The HTTP status.
     * @param string $errorCode One of Crossdock\ErrorCode, or a newer one. Empty if the response is not from Crossdock.
     * @param list<array{field: string, code: string, message: string, row?: int}> $errors The wrong fields.
     * @param string|null $requestId Quote it when you contact us.
     * @param int|null $retryAfter Seconds to wait before you send the request again.
     * @param string|null $docUrl Page with the cause and the cure.
     * @param array{prealert_id: string, user_code: string, status: string, differs: bool}|null $existing The stored pre-alert,
     *     if the code is `duplicate_tracking_number`. If `differs` is true, it belongs to another customer, and yours was not
     *     stored.
     */
    final public function __construct(
        string $message,
        public readonly int $status,
        private readonly string $errorCode,
        public readonly array $errors = [],
        public readonly ?string $requestId = null,
        public readonly ?int $retryAfter = null,
        public readonly ?string $docUrl = null,
        public readonly ?array $existing = null,
    ) {
        parent::__construct($message, $status);
    }

    /**
     * Returns the stable code of the failure, for example `duplicate_tracking_number`.
     */
    public function code(): string
    {
        return $this->errorCode;
    }

    /**
     * Returns whether the failure has one of these codes.
     */
    public function is(string ...$codes): bool
    {
        return in_array($this->errorCode, $codes, true);
    }

    /**
     * @internal
     */
    public static function fromResponse(Response $response): self
    {
        $json = $response->json();
        $code = is_string($json['code'] ?? null) ? $json['code'] : '';
        $class = self::classOf($response->status, $code);

        return new $class(
            is_string($json['message'] ?? null) ? $json['message'] : "The response has the status $response->status.",
            $response->status,
            $code,
            is_array($json['errors'] ?? null) ? $json['errors'] : [],
            $response->headers['x-request-id'] ?? null,
            $response->retryAfter(),
            $json['doc_url'] ?? null,
            is_array($json['existing'] ?? null) ? $json['existing'] : null,
        );
    }

    /**
     * @return class-string<self>
     */
    private static function classOf(int $status, string $code): string
    {
        return match (true) {
            str_starts_with($code, 'duplicate_') => DuplicateException::class,
            $status === 401 => AuthenticationException::class,
            $status === 403 => ForbiddenException::class,
            $status === 404 => NotFoundException::class,
            $status === 409 => ConflictException::class,
            $status === 429 => RateLimitException::class,
            $status >= 500 => ServerException::class,
            default => InvalidRequestException::class,
        };
    }
}
