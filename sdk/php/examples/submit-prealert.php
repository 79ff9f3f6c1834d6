<?php

declare(strict_types=1);

use Crossdock\Exception\ApiException;
use Crossdock\Exception\DuplicateException;
use Crossdock\KeyClient;

require __DIR__ . '/../autoload.php'; // with Composer: vendor/autoload.php

$crossdock = new KeyClient(getenv('CROSSDOCK_URL'), getenv('CROSSDOCK_API_KEY'));

try {
    $submitted = $crossdock->submit([
        'UserCode' => 'IEX-1001',
        'TrackingNumber' => $argv[1],
        'Vendor' => 'Amazon',
        'Reference' => 'ORDER-4711',
    ]);
    echo "Announced: $submitted->prealert_id\n";
    foreach ($submitted->warnings as $warning) {
        echo "Check it: {$warning['message']} ({$warning['code']})\n";
    }
} catch (DuplicateException $duplicate) {
    if ($duplicate->existing['differs'] ?? false) {
        echo "Refused: the number is announced for another customer, {$duplicate->existing['user_code']}.\n";
        exit(1);
    }
    echo "Announced before.\n";
} catch (ApiException $failure) {
    echo "Refused: {$failure->getMessage()} ({$failure->code()}, request {$failure->requestId})\n";
    exit(1);
}
