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

$file = 'last-event.txt';
$after = is_file($file) ? (int) file_get_contents($file) : 0;
do {
    ['data' => $events, 'meta' => $meta] = callApi('/api/Events.php?' . http_build_query(['after' => $after, 'limit' => 1000]));
    if ($meta['is_ahead']) {
        // The service was restored from a backup. Read all events again, and ignore each event_id that you know.
        file_put_contents($file, '0');
        throw new RuntimeException("The events end with {$meta['last_sequence']}, before $after.");
    }
    foreach ($events as $event) {
        echo $event['sequence'], ' ', $event['type'], ' ', $event['event_id'], "\n"; // your work
    }
    $after = $meta['next_after'];
    file_put_contents($file, (string) $after);
} while ($meta['has_more']);
