<?php

declare(strict_types=1);

namespace Crossdock\Http;

/**
 * An HTTP request that can be sent several times.
 *
 * @internal
 */
final class Request
{
    /**
     * @param array<string, string> $headers
     * @param string|array<string, mixed>|null $body A string is sent as it is, an array as multipart/form-data.
     * @param bool $isRepeatable Whether it does no harm if the service executes the request twice.
     * @param resource|null $sink Where the body of a successful response goes, instead of into memory.
     * @param bool $isDivisible Whether the caller divides the request after 408, so that it is not sent again as a whole.
     * @param string $operation The operation, as the reference names it.
     */
    public function __construct(
        public readonly string $method,
        public readonly string $url,
        public readonly array $headers,
        public readonly string|array|null $body,
        public readonly bool $isRepeatable,
        public readonly mixed $sink = null,
        public readonly bool $isDivisible = false,
        public readonly string $operation = '',
    ) {
    }

    /**
     * The same request, of which the caller knows that it can be executed twice.
     */
    public function repeatable(): self
    {
        return $this->with($this->headers, true);
    }

    public function withHeader(string $name, string $value): self
    {
        return $this->with([$name => $value] + $this->headers, $this->isRepeatable);
    }

    /**
     * @param array<string, string> $headers
     */
    private function with(array $headers, bool $isRepeatable): self
    {
        return new self(
            $this->method,
            $this->url,
            $headers,
            $this->body,
            $isRepeatable,
            $this->sink,
            $this->isDivisible,
            $this->operation,
        );
    }
}
