<?php

/**
 * The twelve steps of `npm run sdk:test`. Prints one line of JSON per step.
 */

declare(strict_types=1);

use Crossdock\Client;
use Crossdock\Exception\DuplicateException;
use Crossdock\Exception\WebhookException;
use Crossdock\File;
use Crossdock\KeyClient;
use Crossdock\Webhook;

require __DIR__ . '/autoload.php';

$run = (string) getenv('CROSSDOCK_RUN_ID');
$url = (string) getenv('CROSSDOCK_URL');
$apiKey = (string) getenv('CROSSDOCK_API_KEY');
$password = (string) getenv('CROSSDOCK_PASSWORD');
$userCode = (string) getenv('CROSSDOCK_USER_CODE');
$courierId = (string) getenv('CROSSDOCK_COURIER_ID');

$partner = new KeyClient($url, $apiKey);
$staff = new Client($url, (string) getenv('CROSSDOCK_STAFF_USERNAME'), $password);
$courier = new Client($url, (string) getenv('CROSSDOCK_COURIER_USERNAME'), $password);
$packageId = '';

$steps = [
    1 => fn () => ['prealert_ids' => array_map(
        fn (int $number) => $partner->submit(['UserCode' => $userCode, 'TrackingNumber' => "$run-$number"])->prealert_id,
        [1, 2, 3],
    )],
    2 => function () use ($partner, $userCode, $run): array {
        try {
            $partner->submit(['UserCode' => $userCode, 'TrackingNumber' => "$run-1"]);
        } catch (DuplicateException $e) {
            return ['code' => $e->code(), 'status' => $e->status, 'request_id' => $e->requestId];
        }
        throw new LogicException('The duplicate was accepted.');
    },
    3 => fn () => ['staff_role' => $staff->logIn()['role'], 'courier_role' => $courier->logIn()['role']],
    4 => function () use ($staff, $run): array {
        $filters = ['search' => "$run-", 'limit' => 1];
        $page = $staff->prealerts->page($filters);
        $prealerts = iterator_to_array($staff->prealerts->list($filters));

        return [
            'tracking_numbers' => array_column($prealerts, 'tracking_number'),
            'total' => $page->meta['stats']['total'],
            'pages' => $page->meta['total_pages'],
        ];
    },
    5 => function () use ($staff, $run, &$packageId): array {
        $packageId = $staff->packages->receive(['tracking_number' => "$run-1", 'weight' => 3.25])->package_id;

        return ['package_id' => $packageId];
    },
    6 => function () use ($staff, &$packageId): array {
        $manifestId = $staff->manifests->create()['manifest_id'];
        $staff->manifests->addPackages($manifestId, [$packageId]);
        $staff->manifests->update($manifestId, ['status' => 'ready']);
        $staff->manifests->update($manifestId, ['status' => 'shipped']);

        return ['manifest_id' => $manifestId, 'status' => $staff->manifests->get($manifestId)['info']['status']];
    },
    7 => function () use ($staff, $courierId): array {
        $path = (string) getenv('CROSSDOCK_CUSTOMERS_CSV');
        $dryRun = $staff->customers->upload(fopen($path, 'rb'), $courierId, dryRun: true);

        return [
            'dry_run_created' => $dryRun->created,
            'created' => $staff->customers->upload($path, $courierId)->created,
        ];
    },
    8 => function () use ($staff, $run): array {
        $file = tmpfile();
        $staff->packages->export($file, 'xlsx', ['trackingNumber' => "$run-"]);
        $content = (string) stream_get_contents($file, offset: 0);
        $page = $staff->packages->page(['trackingNumber' => "$run-"]);

        return [
            'file_start' => substr($content, 0, 2),
            'file_bytes' => strlen($content),
            'total' => $page->total,
            'total_weight' => $page->meta['total_weight'],
        ];
    },
    9 => function () use ($staff, $courierId): array {
        $staff->request('getCourierRates', ['courier_id' => $courierId]);
        $staff->request('manageCourierRates', body: [
            'action' => 'save_rates',
            'courier_id' => $courierId,
            'rates' => [
                ['startweight' => 0, 'endweight' => 5, 'fee' => 12.75],
                ['startweight' => 5.001, 'endweight' => 99999.999, 'fee' => 16777217.01],
            ],
        ]);
        $rates = $staff->request('getCourierRates', ['courier_id' => $courierId])->data['courier'];

        return [
            'fees' => array_column($rates['specific_rates'], 'fee'),
            'uses_global_rates' => $rates['uses_global_rates'],
        ];
    },
    10 => function () use ($courier, $run): array {
        $settings = $courier->request('updateCourierSettings', body: ['address2' => $run])->data;
        $logo = File::from((string) getenv('CROSSDOCK_LOGO_PNG'), 'logo.png', 'image/png');

        return [
            'address2' => $settings['address2'],
            'logo_path' => $courier->request('uploadLogo', body: ['logo' => $logo])->data['path'],
        ];
    },
    11 => function () use ($courier): array {
        $events = iterator_to_array($courier->events->after(0, limit: 50));
        $samples = json_decode((string) file_get_contents((string) getenv('CROSSDOCK_WEBHOOKS_JSON')), true);
        $isValid = function (array $sample) use ($samples): bool {
            try {
                return Webhook::verify($sample['body'], $sample['headers'], $samples['secret'])['sequence'] === 1;
            } catch (WebhookException) {
                return false;
            }
        };

        return [
            'events' => count($events),
            'last_sequence' => end($events)->sequence,
            'valid' => $isValid($samples['valid']),
            'tampered' => $isValid($samples['tampered']),
        ];
    },
    12 => fn () => [
        'prealert_id' => (new KeyClient((string) getenv('CROSSDOCK_FAULTY_URL'), $apiKey))
            ->submit(['UserCode' => $userCode, 'TrackingNumber' => "$run-12"])->prealert_id,
    ],
];

foreach ($steps as $number => $step) {
    try {
        $report = ['step' => $number, 'ok' => true] + $step();
    } catch (Throwable $e) {
        $report = ['step' => $number, 'ok' => false, 'error' => $e::class . ': ' . $e->getMessage()];
    }
    echo json_encode($report, JSON_THROW_ON_ERROR), "\n";
}
