<?php

declare(strict_types=1);

namespace Crossdock\Http;

use Crossdock\Attempt;
use Crossdock\Exception\ConnectionException;
use Crossdock\Options;
use Crossdock\Retries;
use Crossdock\Version;
use CurlHandle;
use InvalidArgumentException;
use Throwable;

/**
 * Sends requests with curl over one connection, and sends them again where that is safe and useful.
 *
 * A request is sent again
 *
 * - if the service did not execute it: no connection, 408, 429, 503, and 409 `idempotency_in_progress`;
 * - if nobody knows whether it was executed (response lost or cut, 500, 502, 504) and a repetition does no harm.
 *
 * @internal
 */
final class Transport
{
    private readonly string $baseUrl;
    private ?CurlHandle $curl = null;

    public function __construct(string $baseUrl, private readonly Options $options)
    {
        $this->baseUrl = rtrim($baseUrl, '/');
        $url = parse_url($this->baseUrl);
        $host = $url['host'] ?? '';
        $scheme = $url['scheme'] ?? '';
        $isLocal = $host === '127.0.0.1' || $host === '[::1]' || preg_match('/(^|\.)localhost$/', $host) === 1;
        if ($host === '' || !($scheme === 'https' || ($scheme === 'http' && $isLocal))) {
            throw new InvalidArgumentException(
                "The base URL \"$baseUrl\" must begin with https://. Only a service on this machine may use http://.",
            );
        }
    }

    /**
     * @param array<string, scalar|null> $query
     */
    public function url(string $path, array $query): string
    {
        $given = array_filter($query, static fn (mixed $value): bool => $value !== null);
        $texts = array_map(
            static fn (mixed $value): string => is_bool($value) ? ($value ? 'true' : 'false') : (string) $value,
            $given,
        );
        $encoded = http_build_query($texts, '', '&', PHP_QUERY_RFC3986);

        return $this->baseUrl . $path . ($encoded === '' ? '' : "?$encoded");
    }

    /**
     * Returns the first response that needs no retry. It can be a failure.
     *
     * @throws ConnectionException if there is no whole response after all retries
     */
    public function send(Request $request): Response
    {
        $sinkStart = $request->sink === null ? 0 : (int) ftell($request->sink);
        $begin = hrtime(true);
        for ($retries = 0;; $retries++) {
            $failure = null;
            $response = null;
            $attemptBegin = hrtime(true);
            try {
                $response = $this->sendOnce($request);
                $canRetry = self::isTemporary($response, $request);
            } catch (ConnectionException $failure) {
                $canRetry = $request->isRepeatable || !$failure->wasSent;
            }
            $this->report($request, $retries + 1, $attemptBegin, $response, $failure);
            $wait = $canRetry ? $this->waitBefore($retries, $response?->retryAfter() ?? 0, $begin) : null;
            if ($wait === null || !self::rewind($request->sink, $sinkStart)) {
                return $response ?? throw $failure;
            }
            usleep((int) ($wait * 1_000_000));
        }
    }

    /**
     * Calls the hook. A log that fails does not fail the call.
     */
    private function report(
        Request $request,
        int $number,
        int $begin,
        ?Response $response,
        ?ConnectionException $failure,
    ): void {
        if ($this->options->onAttempt === null) {
            return;
        }
        $durationMs = (hrtime(true) - $begin) / 1_000_000;
        $requestId = $response?->headers['x-request-id'] ?? null;
        try {
            ($this->options->onAttempt)(
                new Attempt($request->operation, $number, $durationMs, $response?->status, $requestId, $failure),
            );
        } catch (Throwable) {
            // The call goes on.
        }
    }

    private static function isTemporary(Response $response, Request $request): bool
    {
        if ($request->isDivisible && $response->status === 408) {
            return false;
        }

        return in_array($response->status, Retries::ALWAYS, true)
            || ($request->isRepeatable && in_array($response->status, Retries::REPEATABLE, true))
            || (!$response->isSuccess() && in_array($response->json()['code'] ?? '', Retries::CODES, true));
    }

    /**
     * Returns how many seconds to wait before the next attempt, or null if there is none.
     */
    private function waitBefore(int $retries, int $retryAfter, int $begin): ?float
    {
        if ($retries >= $this->options->maxRetries || $retryAfter > $this->options->maxRetryWait) {
            return null;
        }
        $wait = max($retryAfter, self::pause($retries));
        $elapsed = (hrtime(true) - $begin) / 1_000_000_000;

        return $elapsed + $wait <= $this->options->lastAttempt ? $wait : null;
    }

    /**
     * Doubles with each retry. A part of it is random, so that clients do not all return together.
     */
    private static function pause(int $retries): float
    {
        $longest = min(Retries::LONGEST_PAUSE_SECONDS, Retries::FIRST_PAUSE_SECONDS * Retries::PAUSE_FACTOR ** $retries);

        return $longest * (1 - Retries::PAUSE_JITTER * mt_rand() / mt_getrandmax());
    }

    /**
     * Removes what a broken download has already written. Returns false if that is not possible.
     *
     * @param resource|null $sink
     */
    private static function rewind(mixed $sink, int $start): bool
    {
        if ($sink === null || ftell($sink) === $start) {
            return true;
        }

        return stream_get_meta_data($sink)['seekable'] && ftruncate($sink, $start) && fseek($sink, $start) === 0;
    }

    private function sendOnce(Request $request): Response
    {
        $headers = [];
        $body = '';
        $this->curl ??= curl_init();
        curl_reset($this->curl);
        curl_setopt_array($this->curl, $this->settings($request) + [
            CURLOPT_HEADERFUNCTION => static function (CurlHandle $curl, string $line) use (&$headers): int {
                if (str_starts_with($line, 'HTTP/')) {
                    $headers = []; // after 100 Continue, or after the answer of a proxy
                } elseif (str_contains($line, ':')) {
                    [$name, $value] = explode(':', $line, 2);
                    $headers[strtolower($name)] = trim($value);
                }

                return strlen($line);
            },
            CURLOPT_WRITEFUNCTION => static function (CurlHandle $curl, string $part) use ($request, &$body): int {
                $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
                if ($request->sink !== null && $status >= 200 && $status < 300) {
                    return (int) fwrite($request->sink, $part);
                }
                $body .= $part;

                return strlen($part);
            },
        ]);
        if (curl_exec($this->curl) === false) {
            $error = curl_errno($this->curl);
            $notSent = [CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT];
            $isTimeout = $error === CURLE_OPERATION_TIMEDOUT;
            throw new ConnectionException(curl_error($this->curl), !in_array($error, $notSent, true), $isTimeout);
        }
        $response = new Response(curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE), $headers, $body);
        if ($response->isSuccess() && !self::isOurs($response, $request)) {
            throw new ConnectionException('the response is not one of the service, or is not complete', true);
        }

        return $response;
    }

    /**
     * Every success of the service in JSON has a status. A file is never JSON or a page, which a proxy may send.
     */
    private static function isOurs(Response $response, Request $request): bool
    {
        if ($request->sink !== null) {
            return preg_match('/json|html/', $response->headers['content-type'] ?? '') !== 1;
        }

        return in_array($response->json()['status'] ?? null, ['success', '2fa_required'], true);
    }

    /**
     * @return array<int, mixed>
     */
    private function settings(Request $request): array
    {
        $lines = ['User-Agent: crossdock-php/' . Version::NUMBER . ' PHP/' . PHP_VERSION, 'Accept: */*'];
        foreach ($request->headers as $name => $value) {
            $lines[] = "$name: $value";
        }
        $isFile = $request->sink !== null || is_array($request->body);

        return array_filter([
            CURLOPT_URL => $request->url,
            CURLOPT_CUSTOMREQUEST => $request->method,
            CURLOPT_HTTPHEADER => $lines,
            CURLOPT_POSTFIELDS => $request->body,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_CONNECTTIMEOUT_MS => (int) ($this->options->connectTimeout * 1000),
            CURLOPT_TIMEOUT_MS => $isFile ? null : (int) ($this->options->timeout * 1000),
            CURLOPT_LOW_SPEED_LIMIT => $isFile ? 1 : null,
            CURLOPT_LOW_SPEED_TIME => $isFile ? (int) ceil($this->options->timeout) : null,
            CURLOPT_CAINFO => $this->options->caFile,
            CURLOPT_PROXY => $this->options->proxy,
        ], static fn (mixed $value): bool => $value !== null);
    }
}
