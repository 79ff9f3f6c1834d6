<?php

require __DIR__ . '/autoload.php';

use OpenAPI\Client\Api;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model;
use OpenAPI\Client\ObjectSerializer;

$run = env('RUN_ID');
$courierSystem = (new Configuration())->setHost(env('URL'))->setApiKey('X-API-KEY', env('API_KEY'));
$clients = [];
$packageId = '';

$steps = [
    'submit' => function () use ($run): array {
        $submit = fn (int $number): string => submitOne("$run-$number");
        return ['prealert_ids' => array_map($submit, [1, 2, 3])];
    },
    'submitAgain' => function () use ($run): array {
        try {
            submitOne("$run-1");
        } catch (ApiException $error) {
            $failure = $error->getResponseObject();
            return [
                'code' => $failure->getCode(),
                'status' => $error->getCode(),
                'request_id' => $failure->getRequestId(),
            ];
        }
        throw new Exception('The duplicate was accepted.');
    },
    'logIn' => function (): array {
        return ['staff_role' => logInAs('STAFF_USERNAME'), 'courier_role' => logInAs('COURIER_USERNAME')];
    },
    'list' => function () use ($run): array {
        $numbers = [];
        for ($page = 1; ; $page++) {
            $result = staff(Api\PrealertsApi::class)->listPrealerts(page: $page, limit: 1, search: "$run-");
            foreach ($result->getData() as $prealert) {
                $numbers[] = $prealert->getTrackingNumber();
            }
            $meta = $result->getMeta();
            if ($page >= $meta->getTotalPages()) {
                $total = $meta->getStats()->getTotal();
                return ['tracking_numbers' => $numbers, 'total' => $total, 'pages' => $meta->getTotalPages()];
            }
        }
    },
    'receive' => function () use ($run, &$packageId): array {
        $intake = new Model\PackageIntake(['tracking_number' => "$run-1", 'weight' => 3.25]);
        $packageId = staff(Api\PackagesApi::class)->receivePackage($intake)->getData()->getPackageId();
        return ['package_id' => $packageId];
    },
    'ship' => function () use (&$packageId): array {
        $id = manage(new Model\CreateManifestAction(['action' => 'create_manifest']))->getManifestId();
        $packages = ['action' => 'add_packages', 'manifest_id' => $id, 'package_ids' => [$packageId]];
        manage(new Model\AddManifestPackagesAction($packages));
        foreach (['ready', 'shipped'] as $status) {
            $update = ['action' => 'update_meta', 'manifest_id' => $id, 'status' => $status];
            manage(new Model\UpdateManifestAction($update));
        }
        $manifest = staff(Api\ManifestsApi::class)->getManifest($id)->getData();
        return ['manifest_id' => $id, 'status' => $manifest->getInfo()->getStatus()];
    },
    'uploadCustomers' => function (): array {
        return ['dry_run_created' => upload(true), 'created' => upload(false)];
    },
    'readPackages' => function () use ($run): array {
        $api = staff(Api\PackagesApi::class);
        $file = $api->exportPackagesXlsx(tracking_number: "$run-");
        $bytes = file_get_contents($file->getPathname());
        $search = new Model\PackageSearch(['tracking_number' => "$run-"]);
        $meta = $api->listPackages(package_search: $search)->getMeta();
        return [
            'file_start' => substr($bytes, 0, 2),
            'file_bytes' => strlen($bytes),
            'total' => $meta->getTotalCount(),
            'total_weight' => $meta->getTotalWeight(),
        ];
    },
    'saveRates' => function (): array {
        $rates = [
            new Model\RateTierInput(['startweight' => 0, 'endweight' => 5, 'fee' => 12.75]),
            new Model\RateTierInput(['startweight' => 5.001, 'endweight' => 99999.999, 'fee' => 16777217.01]),
        ];
        $action = ['action' => 'save_rates', 'courier_id' => env('COURIER_ID'), 'rates' => $rates];
        $api = staff(Api\RatesApi::class);
        $api->manageCourierRates(new Model\SaveRatesAction($action));
        $courier = $api->getCourierRates(env('COURIER_ID'))->getData()->getCourier();
        $fees = array_map(fn ($tier) => $tier->getFee(), $courier->getSpecificRates());
        return ['fees' => $fees, 'uses_global_rates' => $courier->getUsesGlobalRates()];
    },
    'changeSettings' => function () use ($run, &$clients): array {
        $api = new Api\CouriersApi(config: $clients['COURIER_USERNAME']);
        $settings = $api->updateCourierSettings(new Model\CourierSettingsUpdate(['address2' => $run]));
        $logo = $api->uploadLogo(new SplFileObject(env('LOGO_PNG')));
        return ['address2' => $settings->getData()->getAddress2(), 'logo_path' => $logo->getData()->getPath()];
    },
    'readWebhook' => function (): array {
        $samples = json_decode(file_get_contents(env('WEBHOOKS_JSON')), flags: JSON_THROW_ON_ERROR);
        $body = json_decode($samples->valid->body, flags: JSON_THROW_ON_ERROR);
        $event = ObjectSerializer::deserialize($body, Model\PackageCreatedEvent::class);
        return [
            'type' => $event->getType(),
            'tracking_number' => $event->getData()->getTrackingNumber(),
            'sequence' => $event->getSequence(),
        ];
    },
];

foreach (array_values($steps) as $index => $step) {
    try {
        $report = ['ok' => true] + $step();
    } catch (Throwable $error) {
        $report = ['ok' => false, 'error' => substr((string) $error, 0, 1500)];
    }
    echo json_encode(['step' => $index + 1] + $report, JSON_THROW_ON_ERROR), "\n";
}

function env(string $name): string
{
    return getenv("CROSSDOCK_$name");
}

function submitOne(string $trackingNumber): string
{
    global $courierSystem;
    $prealert = ['user_code' => env('USER_CODE'), 'tracking_number' => $trackingNumber];
    $api = new Api\PrealertsApi(config: $courierSystem);
    return $api->submitPrealert(new Model\PrealertSubmission($prealert))->getData()->getPrealertId();
}

function logInAs(string $name): string
{
    global $clients;
    $login = ['action' => 'login', 'username' => env($name), 'password' => env('PASSWORD')];
    $api = new Api\LoginApi(config: (new Configuration())->setHost(env('URL')));
    $grant = $api->login(new Model\PasswordLoginAction($login))->getData();
    $clients[$name] = (new Configuration())->setHost(env('URL'))->setAccessToken($grant->getAccessToken());
    return $grant->getUser()->getRole();
}

/** @template T @param class-string<T> $api @return T */
function staff(string $api)
{
    global $clients;
    return new $api(config: $clients['STAFF_USERNAME']);
}

function manage(object $action): Model\ManifestOperationResult
{
    return staff(Api\ManifestsApi::class)->manageManifest($action)->getData();
}

function upload(bool $isDryRun): int
{
    $file = new SplFileObject(env('CUSTOMERS_CSV'));
    $api = staff(Api\CustomersApi::class);
    return $api->uploadCustomers($file, target_courier_id: env('COURIER_ID'), dry_run: $isDryRun)->getData()->getCreated();
}
