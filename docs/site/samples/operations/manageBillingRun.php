<?php

/** Sends a request, GET without a body, and returns the JSON of its success. */
function callApi(string $path, ?array $body = null): array
{
    $curl = curl_init('https://demo.crossdock.example' . $path);
    curl_setopt_array($curl, [
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 30,
        CURLOPT_HTTPHEADER => ['Content-Type: application/json', 'Authorization: Bearer YOUR_TOKEN'],
    ]);
    if ($body !== null) {
        curl_setopt($curl, CURLOPT_POSTFIELDS, json_encode($body, JSON_THROW_ON_ERROR));
    }
    $response = curl_exec($curl);
    $json = is_string($response) ? json_decode($response, true) : null;
    return ($json['status'] ?? '') === 'success' ? $json : throw new RuntimeException($json['message'] ?? curl_error($curl));
}

$run = ['action' => 'publish', 'month' => gmdate('Y-m')];
do {
    $data = callApi('/api/BillingRun.php', $run)['data'];
    $run['after'] = $data['next_after'];
} while ($data['next_after'] !== null);
echo "All drafts of {$run['month']} are published.\n";
