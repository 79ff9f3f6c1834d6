<?php

/** Returns whether a webhook came from Crossdock. $body is the request's body as received. */
function isFromCrossdock(string $secret, string $id, string $timestamp, string $signatures, string $body): bool
{
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    // A missing setting must not become an empty key, with which anyone can sign.
    $key = base64_decode(substr($secret, strlen('whsec_')), true);
    if ($key === false || $key === '') {
        return false;
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $signatures) as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

// In your endpoint:
// $body = file_get_contents('php://input');
// $isAuthentic = isFromCrossdock(
//     $secret,
//     $_SERVER['HTTP_WEBHOOK_ID'] ?? '',
//     $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '',
//     $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '',
//     $body
// );
// http_response_code($isAuthentic ? 204 : 401);
