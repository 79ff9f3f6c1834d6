<?php

const REPEATED = [408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530];

/**
 * Sends a POST request until the response is final, at most five times, and returns its status and its JSON.
 * Create one key for each change that you intend, and store it with the change.
 */
function sendSafely(string $url, array $headers, string $body, string $key, int $limit = 30): array
{
    $startedAt = microtime(true);
    for ($attempt = 1; ; $attempt++) {
        $retryAfter = 0;
        $curl = curl_init($url);
        curl_setopt_array($curl, [
            CURLOPT_POSTFIELDS => $body,
            CURLOPT_HTTPHEADER => array_merge($headers, ["Idempotency-Key: $key"]),
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_CONNECTTIMEOUT => 10,
            CURLOPT_TIMEOUT => $limit, // for the whole response
            CURLOPT_HEADERFUNCTION => function ($curl, $line) use (&$retryAfter) {
                if (preg_match('/^retry-after: *(.+?)\s*$/i', $line, $match)) {
                    // A number of seconds or a date.
                    $retryAfter = is_numeric($match[1]) ? (float) $match[1] : strtotime($match[1]) - time();
                }
                return strlen($line);
            },
        ]);
        $response = curl_exec($curl); // false if the response is not whole
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        $json = is_string($response) ? json_decode($response, true) : null;
        // Every response of the service has a status in its JSON. Anything else is not whole, or comes from a proxy.
        $isWhole = in_array($json['status'] ?? '', ['success', 'fail', 'error'], true);
        $isOpen = !$isWhole || in_array($status, REPEATED)
            || ($json['code'] ?? '') === 'idempotency_in_progress';
        if (!$isOpen) {
            return [$status, $json];
        }
        $pause = max($retryAfter, 2 ** ($attempt - 1) * random_int(500, 1000) / 1000);
        if ($attempt === 5 || $retryAfter > 60 || microtime(true) - $startedAt + $pause > 150) {
            if ($isWhole) {
                return [$status, $json];
            }
            throw new RuntimeException('No whole response. Send the same request with the same key again later.');
        }
        usleep((int) ($pause * 1_000_000));
    }
}
