<?php

declare(strict_types=1);

use Crossdock\Client;
use Crossdock\Exception\CursorAheadException;
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
try {
    foreach ($crossdock->events->after($cursor) as $event) {
        echo "$event->sequence $event->type {$event->data['tracking_number']}\n";
        file_put_contents($cursorFile, (string) $event->sequence);
    }
} catch (CursorAheadException $failure) {
    // The service was restored from a backup. Read again from 0: your program ignores each event_id that it has stored.
    file_put_contents($cursorFile, '0');
    fwrite(STDERR, "{$failure->getMessage()}\n");
    exit(1);
}
