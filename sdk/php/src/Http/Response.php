<?php

declare(strict_types=1);

namespace Crossdock\Http;

/**
 * An HTTP response.
 *
 * @internal
 */
final class Response
{
    /** @var array<string, mixed>|null */
    private ?array $decoded = null;

    /**
     * @param array<string, string> $headers Names in lower case.
     * @param string $body Empty if it went to the request's sink.
     */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $body,
    ) {
    }

    public function isSuccess(): bool
    {
        return $this->status >= 200 && $this->status < 300;
    }

    /**
     * Returns the body, or an empty array if it is not a JSON object (for example the HTML page of a proxy).
     *
     * @return array<string, mixed>
     */
    public function json(): array
    {
        if ($this->decoded === null) {
            $json = json_decode($this->body, true);
            $this->decoded = is_array($json) ? $json : [];
        }

        return $this->decoded;
    }

    /**
     * Returns the seconds to wait, from a number or a date in `Retry-After`.
     */
    public function retryAfter(): ?int
    {
        $value = $this->headers['retry-after'] ?? '';
        if (ctype_digit($value)) {
            return (int) $value;
        }
        $time = strtotime($value);

        return $time === false ? null : max(0, $time - time());
    }
}
