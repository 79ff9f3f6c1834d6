<?php

// The steps of sdk-tools/packed/steps.ts, in a project that has the SDK from its packed file.

declare(strict_types=1);

require 'vendor/autoload.php';

use Crossdock\Attempt;
use Crossdock\Client;
use Crossdock\Event\PackageCreated;
use Crossdock\Exception\WebhookException;
use Crossdock\KeyClient;
use Crossdock\Options;
use Crossdock\Webhook;

function env(string $name): string
{
    return (string) getenv("CROSSDOCK_$name");
}

function submit(KeyClient $client, string $userCode, int $number): array
{
    $id = $client->submit(['UserCode' => $userCode, 'TrackingNumber' => env('RUN_ID') . "-$number"])->prealert_id;

    return ['prealert_id' => $id];
}

function live(string $url, Options $options = new Options()): KeyClient
{
    return new KeyClient($url, env('API_KEY'), $options);
}

$attempts = [];
$log = static function (Attempt $attempt) use (&$attempts): void {
    $attempts[] = [
        'operation' => $attempt->operation,
        'attempt' => $attempt->number,
        'status' => $attempt->status,
        'request_id' => $attempt->requestId ?? '',
    ];
};

$steps = [
    static fn (): array => submit(live(env('URL')), env('USER_CODE'), 1),
    static fn (): array => submit(live(env('FAULTY_URL'), new Options(onAttempt: $log)), env('USER_CODE'), 2),
    static function (): array {
        $staff = new Client(env('URL'), env('STAFF_USERNAME'), env('PASSWORD'), options: new Options(pageSize: 1));
        [$numbers, $times] = [[], []];
        foreach ($staff->prealerts->list(['search' => env('RUN_ID') . '-']) as $prealert) {
            $numbers[] = $prealert->tracking_number;
            $times[] = $prealert->createdAt();
        }

        return ['tracking_numbers' => $numbers, 'newest' => $times[0]->getTimestamp()];
    },
    static function () use (&$attempts): array {
        $samples = json_decode((string) file_get_contents(env('WEBHOOKS_JSON')), true);
        $event = Webhook::event($samples['valid']['body'], $samples['valid']['headers'], $samples['secret']);
        try {
            Webhook::event($samples['tampered']['body'], $samples['tampered']['headers'], $samples['secret']);
            $isTampered = true;
        } catch (WebhookException) {
            $isTampered = false;
        }

        return [
            'tracking_number' => $event instanceof PackageCreated ? $event->record()->tracking_number : $event->type,
            'tampered' => $isTampered,
            'attempts' => $attempts,
        ];
    },
    static function (): array {
        $sandbox = new KeyClient(env('SANDBOX_URL'), env('SANDBOX_KEY'));

        return submit($sandbox, env('SANDBOX_USER_CODE'), 3);
    },
];
foreach ($steps as $index => $step) {
    try {
        $report = ['ok' => true] + $step();
    } catch (Throwable $failure) {
        $report = ['ok' => false, 'error' => (string) $failure];
    }
    echo json_encode(['step' => $index + 1] + $report), "\n";
}
