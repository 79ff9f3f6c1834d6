<?php

declare(strict_types=1);

use Crossdock\Exception\WebhookException;
use Crossdock\Webhook;

require __DIR__ . '/../autoload.php'; // with Composer: vendor/autoload.php

try {
    $event = Webhook::receive(getenv('CROSSDOCK_WEBHOOK_SECRET'));
} catch (WebhookException $failure) {
    http_response_code(400);
    echo $failure->getMessage();
    exit;
}

// Store the event and respond at once. Process it later, and ignore an event_id that you have stored before.
file_put_contents(getenv('EVENT_FILE'), "$event->event_id $event->type\n", FILE_APPEND | LOCK_EX);
http_response_code(204);
