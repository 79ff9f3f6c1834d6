<?php

declare(strict_types=1);

namespace Crossdock;

use Closure;
use Crossdock\Exception\ApiException;
use Crossdock\Exception\CursorAheadException;
use Crossdock\Exception\SecondFactorRequiredException;
use Crossdock\Http\Request;
use Crossdock\Http\RequestFactory;
use Crossdock\Http\Response;
use Crossdock\Http\Transport;
use Crossdock\Resource\Customers;
use Crossdock\Resource\Events;
use Crossdock\Resource\Manifests;
use Crossdock\Resource\Packages;
use Crossdock\Resource\Prealerts;
use Generator;
use InvalidArgumentException;
use RuntimeException;

/**
 * Calls the API as a user: staff, or a courier. It logs in when needed, and again when the token has expired.
 *
 *     $crossdock = new Crossdock\Client('https://demo.crossdock.example', $username, $password);
 *     foreach ($crossdock->prealerts->list(['status' => 'pending']) as $prealert) {
 *         echo $prealert->tracking_number, "\n";
 *     }
 *
 * Names of fields and parameters are always those of the API reference.
 */
final class Client
{
    public readonly Prealerts $prealerts;
    public readonly Packages $packages;
    public readonly Customers $customers;
    public readonly Manifests $manifests;
    public readonly Events $events;

    private readonly Transport $transport;
    private readonly RequestFactory $requests;
    private readonly ?Closure $secondFactor;
    private readonly string $username;
    private readonly string $password;
    private readonly ?string $token;

    /**
     * @param string $baseUrl The host of your instance, for example `https://demo.crossdock.example`.
     * @param callable(): string|null $secondFactor Returns the current code, if the user has two-factor authentication.
     * @param TokenStore $tokens Keeps the token between requests, for example FileTokenStore. Without it, each PHP
     *     request logs in again.
     * @param string|false|null $token A service token, or an access token that you obtained yourself, instead of a user name and a
     *     password: `new Crossdock\Client($url, token: getenv('CROSSDOCK_TOKEN'))`.
     */
    public function __construct(
        string $baseUrl,
        string|false|null $username = null,
        #[\SensitiveParameter]
        string|false|null $password = null,
        ?callable $secondFactor = null,
        private readonly TokenStore $tokens = new MemoryTokenStore(),
        private readonly Options $options = new Options(),
        #[\SensitiveParameter]
        string|false|null $token = null,
    ) {
        $this->transport = new Transport($baseUrl, $options);
        $this->requests = new RequestFactory($this->transport);
        $this->token = $token === null ? null : Credential::required('token', $token);
        $this->username = $this->token ?? Credential::required('user name', $username);
        $this->password = $this->token ?? Credential::required('password', $password);
        $this->secondFactor = $secondFactor === null ? null : $secondFactor(...);
        $this->prealerts = new Prealerts($this);
        $this->packages = new Packages($this);
        $this->customers = new Customers($this);
        $this->manifests = new Manifests($this);
        $this->events = new Events($this);
    }

    /**
     * Logs in and returns the user: `id`, `full_name`, `role`, `courier_id` and more. Other calls log in by themselves.
     *
     * @return array<string, mixed>
     * @throws Exception\AuthenticationException if the user name, the password or the second factor is wrong
     */
    public function logIn(): array
    {
        if ($this->token !== null) {
            throw new RuntimeException('This client has a token, no user name and password.');
        }
        $step = $this->sendLogin(['action' => 'login', 'username' => $this->username, 'password' => $this->password]);
        if ($step['status'] === '2fa_required') {
            $code = $this->secondFactor ?? throw new SecondFactorRequiredException(
                'The user has two-factor authentication. Create the client with secondFactor, which returns the code.',
            );
            $step = $this->sendLogin([
                'action' => 'verify_2fa',
                'preauth_token' => $step['data']['preauth_token'],
                'code' => $code(),
            ]);
        }
        $this->tokens->save($step['data']['access_token']);

        return $step['data']['user'];
    }

    /**
     * Calls any operation. generated/OPERATIONS.md lists them.
     *
     *     $rates = $crossdock->request('getCourierRates', ['courier_id' => $id])->data;
     *     $crossdock->request('manageCarriers', body: ['action' => 'create', 'name' => 'DHL']);
     *
     * @param string $operation Name of the operation.
     * @param array<string, mixed> $query Parameters of the query and of the path.
     * @param array<string, mixed>|null $body Fields of the body. For an upload, a field can be a File.
     * @param string|null $idempotencyKey Your own key, if you may repeat the call after a crash.
     * @throws ApiException if the service refuses the request
     * @throws Exception\ConnectionException if there is no response
     */
    public function request(
        string $operation,
        array $query = [],
        ?array $body = null,
        ?string $idempotencyKey = null,
    ): Result {
        $response = $this->send($this->requests->create($operation, $query, $body, $idempotencyKey));
        $json = $response->json();
        if ($this->token === null && isset($json['data']['access_token'])) {
            $this->tokens->save($json['data']['access_token']); // a new password or second factor ends the old token
        }

        return new Result(
            $json['data'] ?? [],
            $json['meta'] ?? [],
            $json['message'] ?? '',
            $response->headers['x-request-id'] ?? '',
            isset($response->headers['idempotency-replayed']),
            $json,
        );
    }

    /**
     * Returns all records of a list, one after another. It requests the next page when you have used the last one.
     *
     *     foreach ($crossdock->each('listWebhookDeliveries', ['status' => 'failed']) as $delivery) { ... }
     *
     * @param array<string, mixed> $filters Filters of the list. `limit` is the number of records per page.
     * @return Generator<int, array<string, mixed>>
     * @throws CursorAheadException if `after` of listEvents is above the newest event
     */
    public function each(string $operation, array $filters = []): Generator
    {
        $list = Operations::TABLE[$operation] ?? [];
        $inBody = !in_array('limit', $list['parameters'] ?? [], true);
        if ($inBody && !in_array('limit', $list['fields'] ?? [], true)) {
            throw new InvalidArgumentException("$operation is not a list. generated/OPERATIONS.md names the lists.");
        }
        $filters += ['limit' => min($this->options->pageSize, $list['largestPage'])];
        $number = 0;
        do {
            $result = $inBody ? $this->request($operation, body: $filters) : $this->request($operation, $filters);
            if ($result->meta['is_ahead'] ?? false) {
                throw new CursorAheadException($filters['after'], $result->meta['last_sequence']);
            }
            foreach ($result->data as $record) {
                yield $number++ => $record;
            }
            $next = self::nextPage($result, $filters);
            $filters = $next + $filters;
        } while ($next !== []);
    }

    /**
     * Writes a file of the service (a label, a bill, an export) to a path or to an open resource, without keeping it in
     * memory. Returns the file name that the service suggests, if it suggests one.
     *
     *     $crossdock->download('downloadCourierBill', 'bill.pdf', ['bill_id' => $id]);
     *
     * @param string|resource $target A path gets the file only when it is complete.
     * @param array<string, mixed> $query
     * @param array<string, mixed>|null $body
     */
    public function download(string $operation, mixed $target, array $query = [], ?array $body = null): ?string
    {
        if (is_resource($target)) {
            return $this->downloadTo($operation, $target, $query, $body);
        }
        $part = $target . '.part';
        $sink = fopen($part, 'w+b');
        if ($sink === false) {
            throw new RuntimeException("The file $part cannot be written.");
        }
        try {
            $name = $this->downloadTo($operation, $sink, $query, $body);
            fclose($sink);
            rename($part, $target);

            return $name;
        } finally {
            if (is_file($part)) {
                unlink($part);
            }
        }
    }

    /**
     * @param resource $sink
     * @param array<string, mixed> $query
     * @param array<string, mixed>|null $body
     */
    private function downloadTo(string $operation, mixed $sink, array $query, ?array $body): ?string
    {
        $response = $this->send($this->requests->create($operation, $query, $body, sink: $sink));
        $isNamed = preg_match('/filename="([^"]+)"/', $response->headers['content-disposition'] ?? '', $name);

        return $isNamed === 1 ? basename($name[1]) : null;
    }

    /**
     * @param array<string, mixed> $filters
     * @return array<string, mixed> The parameters of the next page. Empty if there is none.
     */
    private static function nextPage(Result $result, array $filters): array
    {
        $meta = $result->meta;
        if (array_key_exists('next_before', $meta)) {
            return $meta['next_before'] === null ? [] : ['before' => $meta['next_before']];
        }
        if (array_key_exists('next_after', $meta)) {
            return $meta['has_more'] ? ['after' => $meta['next_after']] : [];
        }

        return count($result->data) < $filters['limit'] ? [] : ['page' => ($filters['page'] ?? 1) + 1];
    }

    /**
     * Sends a request with the token of the user. If the service refuses the token, it logs in and sends it again.
     */
    private function send(Request $request): Response
    {
        $token = $this->token ?? $this->tokens->load() ?? $this->newToken();
        $response = $this->transport->send($request->withHeader('Authorization', "Bearer $token"));
        if ($response->status === 401 && $this->token === null) {
            $stored = $this->tokens->load(); // another process may have logged in meanwhile
            $token = $stored === null || $stored === $token ? $this->newToken() : $stored;
            $response = $this->transport->send($request->withHeader('Authorization', "Bearer $token"));
        }

        return $response->isSuccess() ? $response : throw ApiException::fromResponse($response);
    }

    private function newToken(): string
    {
        $this->logIn();

        return $this->tokens->load() ?? throw new RuntimeException('The token store lost the access token.');
    }

    /**
     * @param array<string, string> $body
     * @return array<string, mixed>
     */
    private function sendLogin(#[\SensitiveParameter] array $body): array
    {
        $request = $this->requests->create('login', [], $body);
        // Another login only creates another session. A code is valid once.
        $response = $this->transport->send($body['action'] === 'login' ? $request->repeatable() : $request);

        return $response->isSuccess() ? $response->json() : throw ApiException::fromResponse($response);
    }
}
