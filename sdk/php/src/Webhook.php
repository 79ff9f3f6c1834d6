<?php

declare(strict_types=1);

namespace Crossdock;

use Crossdock\Exception\WebhookException;
use InvalidArgumentException;

/**
 * Verifies webhooks according to Standard Webhooks.
 *
 *     try {
 *         $event = Crossdock\Webhook::receive($webhookSecret);
 *     } catch (Crossdock\Exception\WebhookException) {
 *         http_response_code(400);
 *         exit;
 *     }
 */
final class Webhook
{
    /**
     * Verifies the current HTTP request and returns its event.
     *
     * @param string|false|null $secret `webhook_secret` from the settings of the courier.
     * @param int $tolerance How many seconds the request may be old.
     * @throws WebhookException
     */
    public static function receive(#[\SensitiveParameter] string|false|null $secret, int $tolerance = 300): Event
    {
        $headers = [];
        foreach (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as $name) {
            $headers[$name] = $_SERVER['HTTP_' . strtoupper(strtr($name, '-', '_'))] ?? '';
        }

        return self::event((string) file_get_contents('php://input'), $headers, $secret, $tolerance);
    }

    /**
     * Verifies a request of your framework and returns its event.
     *
     * @param string $body The body exactly as received, not decoded and encoded again.
     * @param array<string, string|list<string>> $headers As from getallheaders(), Symfony, Laravel or PSR-7.
     * @throws WebhookException
     */
    public static function event(
        string $body,
        array $headers,
        #[\SensitiveParameter]
        string|false|null $secret,
        int $tolerance = 300,
    ): Event {
        return Event::fromJson(self::verify($body, $headers, $secret, $tolerance));
    }

    /**
     * Verifies a request and returns its decoded body. Use it for the format `flat`.
     *
     * @param string $body The body exactly as received.
     * @param array<string, string|list<string>> $headers
     * @return array<string, mixed>
     * @throws WebhookException
     */
    public static function verify(
        string $body,
        array $headers,
        #[\SensitiveParameter]
        string|false|null $secret,
        int $tolerance = 300,
    ): array {
        $key = self::key($secret);
        $values = [];
        foreach ($headers as $name => $value) {
            $values[strtolower($name)] = is_array($value) ? ($value[0] ?? '') : $value;
        }
        $id = $values['webhook-id'] ?? '';
        $timestamp = $values['webhook-timestamp'] ?? '';
        $signatures = $values['webhook-signature'] ?? '';
        if ($id === '' || !ctype_digit($timestamp) || $signatures === '') {
            throw new WebhookException('The request has no webhook-id, webhook-timestamp or webhook-signature.');
        }
        if (abs(time() - (int) $timestamp) > $tolerance) {
            throw new WebhookException('The webhook is too old, or the clock of this server is wrong.');
        }
        $expected = base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        if (!self::contains($signatures, $expected)) {
            throw new WebhookException('No signature of the webhook matches. Check the secret.');
        }
        $json = json_decode($body, true);

        return is_array($json) ? $json : throw new WebhookException('The body of the webhook is not a JSON object.');
    }

    /**
     * For a day after a rotation of the secret there are two signatures. One of them is of the secret that you have.
     */
    private static function contains(string $signatures, string $expected): bool
    {
        $isValid = false;
        foreach (explode(' ', $signatures) as $signature) {
            [$version, $value] = explode(',', $signature, 2) + ['', ''];
            $isValid = ($version === 'v1' && hash_equals($expected, $value)) || $isValid;
        }

        return $isValid;
    }

    private static function key(#[\SensitiveParameter] string|false|null $secret): string
    {
        $secret = Credential::required('webhook secret', $secret);
        $key = str_starts_with($secret, 'whsec_') ? base64_decode(substr($secret, strlen('whsec_')), true) : false;
        if ($key === false || $key === '') {
            throw new InvalidArgumentException('The secret must begin with whsec_. Copy it from the settings.');
        }

        return $key;
    }
}
