<?php

/**
 * Tests of the library against a running service. Prints one line per test, and ends with status 1 if one failed.
 */

declare(strict_types=1);

use Crossdock\Attempt;
use Crossdock\Client;
use Crossdock\ErrorCode;
use Crossdock\Event;
use Crossdock\Event\PackageCreated;
use Crossdock\Exception\ApiException;
use Crossdock\Exception\AuthenticationException;
use Crossdock\Exception\ConnectionException;
use Crossdock\Exception\CursorAheadException;
use Crossdock\Exception\DuplicateException;
use Crossdock\Exception\ForbiddenException;
use Crossdock\Exception\IncompleteBatchException;
use Crossdock\Exception\InvalidRequestException;
use Crossdock\Exception\NotFoundException;
use Crossdock\Exception\RateLimitException;
use Crossdock\Exception\SecondFactorRequiredException;
use Crossdock\Exception\ServerException;
use Crossdock\Exception\WebhookException;
use Crossdock\FileTokenStore;
use Crossdock\KeyClient;
use Crossdock\MemoryTokenStore;
use Crossdock\Options;
use Crossdock\Time;
use Crossdock\Webhook;

require __DIR__ . '/../autoload.php';

set_error_handler(static function (int $level, string $message, string $file, int $line): never {
    throw new ErrorException($message, 0, $level, $file, $line);
});

$url = (string) getenv('CROSSDOCK_URL');
$apiKey = (string) getenv('CROSSDOCK_API_KEY');
$password = (string) getenv('CROSSDOCK_PASSWORD');
$failingUrl = (string) getenv('CROSSDOCK_FAILING_URL');
$courierId = (string) getenv('CROSSDOCK_COURIER_ID');
$folder = sys_get_temp_dir() . '/crossdock-php-' . bin2hex(random_bytes(6));
mkdir($folder);

$partner = new KeyClient($url, $apiKey);
$staff = new Client($url, 'admin', $password);
$courier = new Client($url, 'iex', $password);
$hasty = new Options(maxRetries: 0, timeout: 5);

function same(mixed $actual, mixed $expected, string $what = 'value'): void
{
    if ($actual !== $expected) {
        throw new LogicException("$what is " . json_encode($actual) . ', not ' . json_encode($expected));
    }
}

/**
 * @template T of Throwable
 * @param class-string<T> $class
 * @return T
 */
function thrown(string $class, callable $work): Throwable
{
    try {
        $work();
    } catch (Throwable $thrown) {
        if ($thrown instanceof $class) {
            return $thrown;
        }
        throw $thrown;
    }
    throw new LogicException("$class was not thrown");
}

function prealert(string $number, string $userCode = 'IEX-1001'): array
{
    return ['UserCode' => $userCode, 'TrackingNumber' => $number];
}

/** @return array<string, string> */
function signed(string $body, string $secret, ?int $time = null, string $before = ''): array
{
    $time ??= time();
    $key = base64_decode(substr($secret, 6), true);
    $signature = base64_encode(hash_hmac('sha256', "id-1.$time.$body", $key, true));

    return ['Webhook-Id' => 'id-1', 'Webhook-Timestamp' => "$time", 'Webhook-Signature' => "{$before}v1,$signature"];
}

/** The time-based code of the demo user with two-factor authentication. */
function totp(string $base32): string
{
    $bits = '';
    foreach (str_split($base32) as $letter) {
        $bits .= sprintf('%05b', strpos('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', $letter));
    }
    $key = implode('', array_map(fn (string $byte) => chr((int) bindec($byte)), str_split($bits, 8)));
    $hash = hash_hmac('sha1', pack('J', intdiv(time(), 30)), $key, true);
    $number = unpack('N', substr($hash, ord($hash[19]) & 15, 4))[1] & 0x7fffffff;

    return sprintf('%06d', $number % 1_000_000);
}

$tests = [
    'a key client submits pre-alerts, and a duplicate is an exception of its own' => function () use ($partner) {
        same(strlen($partner->submit(prealert('PHP-1'))->prealert_id), 36, 'length of the id');
        $failure = thrown(DuplicateException::class, fn () => $partner->submit(prealert('PHP-1')));
        same($failure->code(), ErrorCode::DUPLICATE_TRACKING_NUMBER);
        same($failure->getCode(), 409);
    },
    'a duplicate names the existing record' => function () use ($partner) {
        $first = $partner->submit(prealert('PHP-EXISTING'))->prealert_id;
        foreach (['IEX-1001' => false, 'IEX-1002' => true] as $userCode => $differs) {
            $again = prealert('PHP-EXISTING', $userCode);
            $existing = thrown(DuplicateException::class, fn () => $partner->submit($again))->existing;
            same([$existing['prealert_id'], $existing['user_code'], $existing['differs']], [$first, 'IEX-1001', $differs]);
        }
        $result = $partner->submitMany([prealert('PHP-EXISTING', 'IEX-1002')])[0];
        same([$result->status, $result->existing['differs'] ?? null], ['duplicate', true]);
    },
    'warnings come with the id, of a single pre-alert and of a line' => function () use ($partner, $courier) {
        $submitted = $partner->submit(prealert('NO NUMBER YET'));
        same([$submitted->warnings[0]['code'], "$submitted"], ['unlikely_number', $submitted->prealert_id]);
        same($partner->submit(prealert('PHP-CERTAIN-1'))->warnings, []);
        $fields = ['tracking_number' => 'STILL NO NUMBER', 'user_code' => 'IEX-1001', 'vendor' => 'Shop'];
        same($courier->prealerts->create($fields)->warnings[0]['code'], 'unlikely_number');
        [$doubtful, $certain] = $partner->submitMany([prealert('NOT KNOWN'), prealert('PHP-CERTAIN-2')]);
        same([$doubtful->status, $doubtful->warnings[0]['code'], $certain->warnings], ['created', 'unlikely_number', []]);
        $stored = $partner->submitAllOrNone([prealert('PHP-CERTAIN-3'), prealert('TO FOLLOW')]);
        same([$stored[0]->warnings, $stored[1]->warnings[0]['code']], [[], 'unlikely_number']);
    },
    'a service token submits as an API key does' => function () use ($url, $courier, $password) {
        $token = $courier->request('manageServiceTokens', body: [
            'action' => 'create',
            'name' => 'php',
            'scopes' => ['prealerts:write'],
            'current_password' => $password,
        ])->data['token'];
        $machine = new KeyClient($url, $token);
        same(strlen($machine->submit(prealert('PHP-TOKEN-1'))->prealert_id), 36, 'length of the id');
        same($machine->submitMany([prealert('PHP-TOKEN-2')])[0]->status, 'created');
        thrown(AuthenticationException::class, fn () => (new KeyClient($url, 'cdk_wrong'))->submit(prealert('PHP-TOKEN-3')));
    },
    'an exception of a batch has the results before it' => function () use ($failingUrl, $apiKey) {
        $many = array_map(fn (int $number) => prealert("PHP-PART-$number"), range(1, 400));
        $client = new KeyClient("$failingUrl/second-batch", $apiKey);
        $failure = thrown(ForbiddenException::class, fn () => $client->submitMany($many));
        same([count($failure->results), $failure->results[249]->line], [250, 250], 'results');
        same(str_ends_with((string) $failure->results[0]->prealert_id, 'a03'), true, 'prealert_id');
    },
    'a batch that was cut on the way is an exception' => function () use ($failingUrl, $apiKey) {
        $many = array_map(fn (int $number) => prealert("PHP-CUT-$number"), range(1, 4));
        $client = new KeyClient("$failingUrl/cut-request", $apiKey);
        $failure = thrown(IncompleteBatchException::class, fn () => $client->submitMany($many));
        same(count($failure->results), 2, 'results');
        thrown(IncompleteBatchException::class, fn () => $client->submitAllOrNone($many));
    },
    'a missing credential is a clear exception' => function () use ($url, $password) {
        foreach ([false, null, ''] as $missing) {
            $calls = [
                fn () => new KeyClient($url, $missing),
                fn () => new Client($url, $missing, $password),
                fn () => new Client($url, 'iex', $missing),
                fn () => Webhook::verify('{}', [], $missing),
            ];
            foreach ($calls as $call) {
                $failure = thrown(InvalidArgumentException::class, $call);
                same(str_contains($failure->getMessage(), 'Check the environment variable'), true, 'cure');
            }
        }
    },
    'the same idempotency key returns the first response' => function () use ($partner) {
        $key = bin2hex(random_bytes(16));
        $first = $partner->submit(prealert('PHP-2'), $key);
        same($partner->submit(prealert('PHP-2'), $key)->prealert_id, $first->prealert_id, 'prealert_id');
    },
    'failures have a code, fields, and a request id' => function () use ($partner, $staff, $url, $password) {
        $failure = thrown(InvalidRequestException::class, fn () => $partner->submit(prealert('PHP-3', 'NOBODY')));
        same($failure->is('malformed_json', ErrorCode::UNKNOWN_USER_CODE), true, 'is()');
        same($failure->errors[0]['field'], 'UserCode');
        same(strlen((string) $failure->requestId), 36, 'length of the request id');
        $stranger = new KeyClient($url, str_repeat('f', 64));
        thrown(ForbiddenException::class, fn () => $stranger->submit(prealert('PHP-3')));
        $missing = '00000000-0000-7000-8000-000000000000';
        thrown(NotFoundException::class, fn () => $staff->prealerts->delete($missing));
        $wrong = new Client($url, 'nobody', $password);
        $failure = thrown(AuthenticationException::class, fn () => $wrong->prealerts->page());
        same($failure->code(), ErrorCode::CREDENTIALS_INVALID);
    },
    'many pre-alerts are sent in batches, with one result each' => function () use ($partner, $staff) {
        $many = (function (): Generator {
            for ($number = 1; $number <= 1001; $number++) {
                yield prealert("PHP-MANY-$number");
            }
            yield prealert('PHP-MANY-1');
            yield prealert('PHP-MANY-0', 'NOBODY');
            yield ['UserCode' => 'IEX-1001', 'TrackingNumber' => ' '];
        })();
        $results = $partner->submitMany($many);
        same(array_count_values(array_column($results, 'status')), [
            'created' => 1001,
            'duplicate' => 1,
            'unknown_customer' => 1,
            'invalid' => 1,
        ]);
        same([$results[1003]->line, $results[1003]->errors[0]['field']], [1004, 'TrackingNumber']);
        same($partner->submitMany([]), []);
        same($staff->prealerts->page(['search' => 'PHP-MANY-'])->total, 1001, 'stored');
    },
    'all or none stores nothing if one pre-alert is refused' => function () use ($partner, $staff) {
        $wrong = [prealert('PHP-ALL-1'), prealert('PHP-ALL-2', 'NOBODY')];
        $failure = thrown(InvalidRequestException::class, fn () => $partner->submitAllOrNone($wrong));
        same($failure->errors[0]['row'], 2, 'row');
        same($staff->prealerts->page(['search' => 'PHP-ALL-'])->total, 0, 'stored');
        same(count($partner->submitAllOrNone([prealert('PHP-ALL-1'), prealert('PHP-ALL-2')])), 2, 'ids');
        thrown(DuplicateException::class, fn () => $partner->submitAllOrNone([prealert('PHP-ALL-1')]));
        $tooMany = array_fill(0, 1001, prealert('PHP-ALL-3'));
        thrown(InvalidArgumentException::class, fn () => $partner->submitAllOrNone($tooMany));
    },
    'lists return every record once, over all pages' => function () use ($staff, $courier) {
        $numbers = [];
        foreach ($staff->prealerts->list(['search' => 'PHP-MANY-', 'sort_by' => 'tracking_number']) as $prealert) {
            $numbers[$prealert->tracking_number] = $prealert->prealert_id;
        }
        same(count($numbers), 1001, 'pre-alerts');
        $customers = iterator_to_array($courier->customers->list(['limit' => 90]));
        same(count($customers), $courier->customers->page(['limit' => 1])->total, 'customers');
        $weight = 0.0;
        $packages = 0;
        foreach ($courier->packages->list(['limit' => 100]) as $package) {
            $weight += $package->weight;
            $packages++;
        }
        $page = $courier->packages->page(['limit' => 1]);
        same($packages, $page->total, 'packages');
        same(round($weight, 3), round($page->meta['total_weight'], 3), 'weight');
    },
    'other lists page by their own cursor' => function () use ($staff) {
        $entries = 0;
        foreach ($staff->each('listAuditEntries', ['limit' => 2]) as $entry) {
            same(isset($entry['action']), true, 'action of an audit entry');
            if (++$entries === 5) {
                break;
            }
        }
        same($entries, 5, 'entries');
        thrown(InvalidArgumentException::class, fn () => $staff->each('getManifest')->current());
    },
    'pre-alerts, customers and packages can be changed' => function () use ($staff, $courierId) {
        $fields = ['tracking_number' => 'PHP-CRUD', 'user_code' => 'IEX-1001', 'vendor' => 'Shop'];
        $id = $staff->prealerts->create($fields + ['courier_id' => $courierId])->prealert_id;
        $changed = $staff->prealerts->replace(['prealert_id' => $id, 'vendor' => 'Other'] + $fields);
        same($changed->vendor, 'Other');
        $staff->prealerts->delete($id);
        $names = ['user_code' => 'PHP-C1', 'first_name' => 'Añá', 'last_name' => 'Lee'];
        $customer = $staff->customers->create($names + ['courier_id' => $courierId]);
        $staff->customers->update($customer, ['first_name' => 'Ann']);
        same($staff->customers->search('PHP-C1')[0]->first_name, 'Ann');
        $staff->customers->delete($customer);
        $package = $staff->packages->receive(['tracking_number' => 'PHP-PKG', 'weight' => 0.1]);
        same($staff->packages->update($package->package_id, ['weight' => 1.005]), 1, 'changed fields');
        same($staff->packages->update($package->package_id, ['weight' => 1.005]), 0, 'changed fields');
        same($staff->packages->history($package->package_id) === [], false, 'empty history');
        $manifest = $staff->manifests->create()['manifest_id'];
        same($staff->manifests->addPackages($manifest, [$package->package_id]), 1, 'added');
        same($staff->manifests->removePackages($manifest, [$package->package_id]), 1, 'removed');
        $staff->manifests->delete($manifest);
    },
    'a misspelt name is refused before anything is sent' => function () use ($staff, $partner) {
        thrown(InvalidArgumentException::class, fn () => $staff->prealerts->page(['stauts' => 'pending']));
        thrown(InvalidArgumentException::class, fn () => $staff->packages->page(['usercode' => 'IEX-1001']));
        thrown(InvalidArgumentException::class, fn () => $partner->submitMany([['usercode' => 'IEX-1001']]));
        thrown(InvalidArgumentException::class, fn () => $staff->request('getNothing'));
    },
    'events continue from a cursor' => function () use ($courier, $staff, $courierId) {
        $all = iterator_to_array($courier->events->after(0, limit: 3));
        same(count($all) > 6, true, 'more than two pages');
        $rest = iterator_to_array($staff->events->after($all[4]->sequence, $courierId));
        same(array_column($rest, 'event_id'), array_slice(array_column($all, 'event_id'), 5), 'rest');
    },
    'a cursor above the newest event is an exception, not silence' => function () use ($courier) {
        $all = iterator_to_array($courier->events->after(0), false);
        $last = end($all)->sequence;
        same(iterator_to_array($courier->events->after($last)), [], 'after the newest');
        $failure = thrown(CursorAheadException::class, fn () => $courier->events->after($last + 1)->current());
        same([$failure->after, $failure->lastSequence], [$last + 1, $last]);
        thrown(CursorAheadException::class, fn () => $courier->each('listEvents', ['after' => 9999])->current());
    },
    'a customer file is uploaded from a path or a resource' => function () use ($staff, $courierId, $folder) {
        file_put_contents("$folder/good.csv", "user_code,first_name,last_name\nPHP-U1,Ann,Lee\n");
        $check = $staff->customers->upload("$folder/good.csv", $courierId, dryRun: true);
        same([$check->created, $check->dry_run], [1, true], 'dry run');
        same($staff->customers->upload(fopen("$folder/good.csv", 'rb'), $courierId)->created, 1, 'created');
        same($staff->customers->upload("$folder/good.csv", $courierId)->unchanged, 1, 'unchanged');
        file_put_contents("$folder/bad.csv", "user_code,first_name,last_name\nPHP-U2,,Lee\n");
        $upload = fn () => $staff->customers->upload("$folder/bad.csv", $courierId);
        $failure = thrown(InvalidRequestException::class, $upload);
        same([$failure->errors[0]['row'], $failure->errors[0]['field']], [2, 'first_name'], 'error');
        thrown(InvalidArgumentException::class, fn () => $staff->customers->upload("$folder/none.csv", $courierId));
    },
    'a file of pre-alerts is uploaded' => function () use ($staff, $courier, $courierId, $folder) {
        file_put_contents("$folder/prealerts.csv", "tracking_number,user_code\nPHP-CSV,IEX-1001\n");
        same($staff->prealerts->upload("$folder/prealerts.csv", $courierId, dryRun: true)->created, 1, 'dry run');
        same($courier->prealerts->upload(fopen("$folder/prealerts.csv", 'rb'))->created, 1, 'created');
        same($courier->prealerts->upload("$folder/prealerts.csv")->duplicate, 1, 'duplicate');
    },
    'a file is streamed to a path only when it is complete' => function () use ($staff, $folder) {
        $name = $staff->packages->export("$folder/packages.csv", 'csv', ['limit' => 3]);
        same(preg_match('/^packages-[\d-]+\.csv$/', (string) $name), 1, 'suggested name');
        same(count(file("$folder/packages.csv")), 4, 'lines');
        $missing = '00000000-0000-7000-8000-000000000000';
        thrown(NotFoundException::class, fn () => $staff->packages->label($missing, "$folder/label.pdf"));
        same(glob("$folder/label.pdf*"), [], 'files after a failure');
        $id = $staff->packages->page(['limit' => 1])->items[0]->package_id;
        $target = fopen("$folder/label.pdf", 'w+b');
        fwrite($target, 'before');
        $staff->packages->label($id, $target);
        same(substr((string) stream_get_contents($target, offset: 0), 0, 10), 'before%PDF', 'content');
    },
    'an ended session leads to a new login' => function () use ($url, $password) {
        $tokens = new MemoryTokenStore();
        $client = new Client($url, 'manager', $password, tokens: $tokens);
        $client->prealerts->page();
        $first = $tokens->load();
        $client->request('manageSessions', body: ['action' => 'logout']);
        same($client->prealerts->page(['limit' => 1])->items !== [], true, 'items');
        same($tokens->load() === $first, false, 'same token');
    },
    'a new password ends the token, and the client takes the next one' => function () use ($url, $password) {
        $client = new Client($url, 'hrb', $password);
        $new = bin2hex(random_bytes(12));
        $client->request('changePassword', body: ['current_password' => $password, 'new_password' => $new]);
        same($client->prealerts->page(['limit' => 1])->items !== [], true, 'items');
    },
    'a token is kept in a file that only its owner can read' => function () use ($url, $password, $folder) {
        $client = fn (string $secret) => new Client($url, 'iex', $secret, tokens: new FileTokenStore("$folder/token"));
        $client($password)->prealerts->page();
        same(decoct(fileperms("$folder/token") & 0777), '600', 'mode');
        $client('not needed')->prealerts->page();
    },
    'two-factor authentication asks for a code' => function () use ($url, $password) {
        $client = new Client($url, 'guarded', $password);
        thrown(SecondFactorRequiredException::class, fn () => $client->prealerts->page());
        $code = fn () => totp('KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU');
        same((new Client($url, 'guarded', $password, $code))->logIn()['role'], 'manager', 'role');
    },
    'retries end, and a long Retry-After is not waited for' => function () use ($failingUrl, $apiKey, $hasty) {
        $patient = new KeyClient($failingUrl . '/two-failures', $apiKey);
        same(substr($patient->submit(prealert('PHP-R1'))->prealert_id, -3), 'a03', 'id of the third attempt');
        $client = new KeyClient($failingUrl . '/one-hour', $apiKey);
        same(thrown(RateLimitException::class, fn () => $client->submit(prealert('PHP-R2')))->retryAfter, 3600);
        $client = new KeyClient($failingUrl . '/html', $apiKey, $hasty);
        $failure = thrown(ServerException::class, fn () => $client->submit(prealert('PHP-R3')));
        same([$failure->status, $failure->code()], [502, ''], 'failure');
        $client = new KeyClient($failingUrl . '/silence', $apiKey, new Options(timeout: 0.2, maxRetries: 1));
        same(thrown(ConnectionException::class, fn () => $client->submit(prealert('PHP-R4')))->wasSent, true, 'sent');
        $client = new KeyClient('http://127.0.0.1:1', $apiKey, $hasty);
        same(thrown(ConnectionException::class, fn () => $client->submit(prealert('PHP-R5')))->wasSent, false, 'sent');
    },
    'a broken download starts again without a trace' => function () use ($failingUrl, $password) {
        $file = tmpfile();
        $tokens = new MemoryTokenStore();
        $tokens->save('any');
        (new Client($failingUrl . '/broken-file', 'iex', $password, tokens: $tokens))->packages->export($file);
        same(stream_get_contents($file, offset: 0), 'the whole file', 'file');
    },
    'only HTTPS is accepted, except on this machine' => function () {
        $insecure = ['http://demo.crossdock.example', 'demo.crossdock.example', 'http://localhost.evil.example'];
        foreach ($insecure as $wrong) {
            thrown(InvalidArgumentException::class, fn () => new KeyClient($wrong, 'key'));
        }
        foreach (['https://demo.crossdock.example/', 'http://two.localhost:3000', 'http://[::1]:3000'] as $right) {
            new KeyClient($right, 'key');
        }
    },
    'the hook gets each attempt without secrets, and cannot break a call' => function () use ($failingUrl, $apiKey) {
        $seen = [];
        $options = new Options(onAttempt: function (Attempt $attempt) use (&$seen): void {
            $seen[] = $attempt;
            throw new RuntimeException('A log that fails.');
        });
        (new KeyClient($failingUrl . '/hooked', $apiKey, $options))->submit(prealert('PHP-HOOK'));
        $brief = array_map(fn (Attempt $each) => [$each->operation, $each->number, $each->status], $seen);
        same($brief, [['submitPrealert', 1, null], ['submitPrealert', 2, 503], ['submitPrealert', 3, 201]]);
        same(array_filter($seen, fn (Attempt $each) => $each->durationMs <= 0), [], 'without a duration');
        $text = json_encode(array_map(fn (Attempt $each) => [$each, (string) $each->failure?->getMessage()], $seen));
        same([str_contains($text, $apiKey), str_contains($text, 'PHP-HOOK')], [false, false], 'secrets in the report');
    },
    'dates and times are objects, in and out' => function () use ($courier) {
        $all = iterator_to_array($courier->packages->list(['entryDateFloor' => new DateTimeImmutable('2020-01-01')]), false);
        same(count($all) > 100, true, 'packages');
        same($all[0]->entryDateTime()->format('Y-m-d H:i:s e'), "{$all[0]->entry_date_time} UTC");
        $later = new DateTimeImmutable('+400 days', new DateTimeZone('America/Jamaica'));
        same($courier->packages->page(['changed_since' => $later])->total, 0);
        same($courier->packages->page(['changed_since' => new DateTime('2020-01-01')])->total, count($all));
    },
    'a page has the size of the options, or of the call' => function () use ($url, $password, $folder) {
        $requests = [];
        $log = static function (Attempt $attempt) use (&$requests): void {
            $requests[] = $attempt->operation;
        };
        $client = new Client($url, 'iex', $password, options: new Options(pageSize: 50, onAttempt: $log));
        $count = count(iterator_to_array($client->packages->list(), false));
        same(count(array_keys($requests, 'listPackages', true)), intdiv($count, 50) + 1);
        thrown(InvalidArgumentException::class, fn () => new Options(pageSize: 0));
    },
    'an event has the class of its type, with its record' => function () use ($courier) {
        foreach ($courier->events->after(0) as $event) {
            same($event instanceof PackageCreated, $event->type === 'package.created', 'class');
            if ($event instanceof PackageCreated) {
                same($event->record()->tracking_number, $event->data['tracking_number']);
                same($event->time()->format('Y-m-d H:i:s'), $event->timestamp);
                break;
            }
        }
        $newer = Event::fromJson(
            ['type' => 'package.new', 'event_id' => 'i', 'sequence' => 1, 'timestamp' => '2026-11-21 15:10:00', 'data' => []],
        );
        same($newer::class, Event::class);
    },
    'a client with a token does not log in' => function () use ($url, $password) {
        $tokens = new MemoryTokenStore();
        (new Client($url, 'iex', $password, tokens: $tokens))->logIn();
        $client = new Client($url, token: $tokens->load());
        same(count($client->prealerts->page(['limit' => 1])->items), 1);
        thrown(RuntimeException::class, fn () => $client->logIn());
        thrown(AuthenticationException::class, fn () => (new Client($url, token: 'wrong'))->prealerts->page());
        thrown(InvalidArgumentException::class, fn () => new Client($url, token: false));
    },
    'a time is in UTC, whatever the zone of the program' => function () {
        date_default_timezone_set('America/Jamaica');
        same(Time::parse('2026-11-22 21:40:00')->getTimestamp(), 1795383600);
        same(Time::parse('2026-11-22T21:40:00Z')->getTimestamp(), 1795383600);
        same(Time::format(new DateTimeImmutable('@1795383600')), '2026-11-22 21:40:00');
        same(Time::format(new DateTime('2026-11-22 16:40:00')), '2026-11-22 21:40:00');
    },
    'a webhook is accepted with the right signature only' => function () {
        $secret = 'whsec_' . base64_encode(random_bytes(24));
        $body = '{"type":"webhook.test","event_id":"id-1","sequence":null,"timestamp":"2026-11-21 15:10:00",'
            . '"data":{"message":"Café"},"new_field":1}';
        $event = Webhook::event($body, signed($body, $secret), $secret);
        same([$event->type, $event->sequence, $event->data['message']], ['webhook.test', null, 'Café']);
        Webhook::event($body, signed($body, $secret, before: 'v1,AAAA v2,BBBB broken '), $secret);
        $lists = array_map(fn (string $value) => [$value], signed($body, $secret));
        Webhook::event($body, array_change_key_case($lists), $secret);
        $refused = [
            [$body . ' ', signed($body, $secret), $secret],
            [$body, signed($body, $secret), 'whsec_' . base64_encode('other')],
            [$body, signed($body, $secret, time() - 301), $secret],
            [$body, signed($body, $secret, time() + 301), $secret],
            [$body, ['Webhook-Signature' => ''] + signed($body, $secret), $secret],
            [$body, [], $secret],
        ];
        foreach ($refused as $arguments) {
            thrown(WebhookException::class, fn () => Webhook::verify(...$arguments));
        }
        Webhook::verify($body, signed($body, $secret, time() - 301), $secret, tolerance: 400);
        $flat = '{"TrackingNumber":"1Z"}';
        same(Webhook::verify($flat, signed($flat, $secret), $secret), ['TrackingNumber' => '1Z']);
        thrown(InvalidArgumentException::class, fn () => Webhook::verify($flat, signed($flat, $secret), 'secret'));
    },
];

$failed = 0;
foreach ($tests as $title => $test) {
    try {
        $test();
        echo "ok      $title\n";
    } catch (Throwable $thrown) {
        $failed++;
        echo "FAILED  $title\n        ", $thrown::class, ": {$thrown->getMessage()} (line {$thrown->getLine()})\n";
    }
}
array_map(unlink(...), glob("$folder/*"));
rmdir($folder);
exit($failed === 0 ? 0 : 1);
