<?php

/**
 * The calls of test/sdk/faults.test.ts, one after another. Prints one line of JSON for each.
 */

declare(strict_types=1);

use Crossdock\Client;
use Crossdock\Exception\ApiException;
use Crossdock\Exception\ConnectionException;
use Crossdock\KeyClient;
use Crossdock\Options;

// The library is the folder that the program runs in.
require getcwd() . '/autoload.php';

function act(array $call): mixed
{
    $options = new Options(...array_filter([
        'maxRetries' => $call['max_retries'] ?? null,
        'timeout' => $call['timeout_seconds'] ?? null,
        'lastAttempt' => $call['last_attempt_seconds'] ?? null,
    ], static fn (mixed $value): bool => $value !== null));
    if ($call['action'] === 'submit') {
        $client = new KeyClient($call['url'], getenv('CROSSDOCK_API_KEY'), $options);

        return $client->submit(['UserCode' => 'IEX-1001', 'TrackingNumber' => $call['tracking_number']])->prealert_id;
    }
    if ($call['action'] === 'batch') {
        $client = new KeyClient($call['url'], getenv('CROSSDOCK_API_KEY'), $options);
        $results = $client->submitMany(array_map(
            fn (int $n) => ['UserCode' => 'IEX-1001', 'TrackingNumber' => "$call[tracking_number]-$n"],
            range(1, 300),
        ));
        $created = array_filter($results, fn ($result) => $result->status === 'created');

        return array_column($results, 'line') === range(1, 300) ? count($created) : 'wrong lines';
    }
    $password = getenv('CROSSDOCK_PASSWORD');
    $client = new Client($call['url'], getenv('CROSSDOCK_USERNAME'), $password, options: $options);
    switch ($call['action']) {
        case 'login':
            return $client->logIn()['role'];
        case 'read':
            return count($client->prealerts->page(['limit' => 1])->items);
        case 'delete':
            $client->prealerts->delete('00000000-0000-0000-0000-000000000000');

            return true;
        default:
            $file = (string) tempnam(sys_get_temp_dir(), 'crossdock-');
            try {
                $client->download('exportPackagesCsv', $file);

                return filesize($file) > 0;
            } finally {
                unlink($file);
            }
    }
}

foreach (json_decode((string) getenv('CROSSDOCK_CALLS'), true) as $call) {
    try {
        $ended = ['value' => act($call)];
    } catch (ApiException $failure) {
        $ended = ['error' => 'refusal', 'status' => $failure->status];
    } catch (ConnectionException $failure) {
        $ended = ['error' => $failure->isTimeout ? 'timeout' : 'no response'];
    } catch (Throwable $failure) {
        $ended = ['error' => "foreign: $failure"];
    }
    echo json_encode(['name' => $call['name']] + $ended), "\n";
}
