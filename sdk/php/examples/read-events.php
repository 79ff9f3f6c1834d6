<?php

declare(strict_types=1);

use Crossdock\Client;
use Crossdock\FileTokenStore;

require __DIR__ . '/../autoload.php'; // with Composer: vendor/autoload.php

$cursorFile = getenv('CURSOR_FILE');
$crossdock = new Client(
    getenv('CROSSDOCK_URL'),
    getenv('CROSSDOCK_USERNAME'),
    getenv('CROSSDOCK_PASSWORD'),
    tokens: new FileTokenStore("$cursorFile.token"),
);

$cursor = is_file($cursorFile) ? (int) file_get_contents($cursorFile) : 0;
foreach ($crossdock->events->after($cursor) as $event) {
    echo "$event->sequence $event->type {$event->data['tracking_number']}\n";
    file_put_contents($cursorFile, (string) $event->sequence);
}
