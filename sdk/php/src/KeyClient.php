<?php

declare(strict_types=1);

namespace Crossdock;

use Crossdock\Exception\ApiException;
use Crossdock\Exception\CrossdockException;
use Crossdock\Exception\IncompleteBatchException;
use Crossdock\Http\Request;
use Crossdock\Http\RequestFactory;
use Crossdock\Http\Response;
use Crossdock\Http\Transport;
use Generator;
use InvalidArgumentException;

/**
 * Announces parcels with the API key of a courier, or with a service token that has the scope `prealerts:write`. For other calls,
 * use Client.
 *
 *     $crossdock = new Crossdock\KeyClient('https://demo.crossdock.example', $apiKey);
 *     $submitted = $crossdock->submit(['UserCode' => 'IEX-1001', 'TrackingNumber' => '1Z999AA10123456784']);
 *     echo $submitted->prealert_id;
 */
final class KeyClient
{
    /** How every service token begins. An API key has hexadecimal digits only. */
    private const TOKEN_PREFIX = 'cdk_';

    private readonly Transport $transport;
    private readonly RequestFactory $requests;
    private readonly string $apiKey;

    /**
     * @param string $baseUrl The host of your instance, for example `https://demo.crossdock.example`.
     * @param string|false|null $apiKey The 64 characters from the settings of the courier, or a service token (`cdk_...`). False, as
     *     getenv() returns it for a missing variable, is an InvalidArgumentException.
     */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter]
        string|false|null $apiKey,
        private readonly Options $options = new Options(),
    ) {
        $this->transport = new Transport($baseUrl, $options);
        $this->requests = new RequestFactory($this->transport);
        $this->apiKey = Credential::required('API key', $apiKey);
    }

    /**
     * Submits a pre-alert and returns its `prealert_id` and the `warnings`.
     *
     * @param array{
     *     UserCode: string,
     *     TrackingNumber: string,
     *     Reference?: string,
     *     Vendor?: string,
     *     Description?: string,
     * } $prealert
     * @param string|null $idempotencyKey Your own key, new for each attempted change and stored with it, if you may submit the same
     *     pre-alert again after a crash. Without it, each call has a new key, which protects the retries of this call.
     * @throws Exception\DuplicateException if the courier already has a pre-alert with this tracking number
     * @throws Exception\InvalidRequestException `unknown_user_code` if no active customer has the user code
     */
    public function submit(array $prealert, ?string $idempotencyKey = null): SubmittedPrealert
    {
        $response = $this->send($this->requests->create('submitPrealert', [], $prealert, $idempotencyKey));

        return SubmittedPrealert::fromJson($response->json()['data']);
    }

    /**
     * Submits any number of pre-alerts, 250 per request (see Options), and returns one result per pre-alert, in the same order.
     * `line` of the first is 1.
     *
     * A pre-alert that the service refuses does not stop the others: check `status` of each result. If a request fails, the
     * exception has the results before it in `results`. Call it again: pre-alerts that were already submitted then have the
     * status `duplicate`, and `existing` of their result has the `prealert_id`.
     *
     *     foreach ($crossdock->submitMany($prealerts) as $result) {
     *         if ($result->status !== 'created') {
     *             echo "Pre-alert $result->line: $result->message\n";
     *         }
     *         foreach ($result->warnings as $warning) {
     *             echo "Pre-alert $result->line: {$warning['message']}\n";
     *         }
     *     }
     *
     * @param iterable<array{
     *     UserCode: string,
     *     TrackingNumber: string,
     *     Reference?: string,
     *     Vendor?: string,
     *     Description?: string,
     * }> $prealerts
     * @return list<BatchResult>
     */
    public function submitMany(iterable $prealerts): array
    {
        $results = [];
        try {
            foreach ($this->submitEach($prealerts) as $result) {
                $results[] = $result;
            }
        } catch (CrossdockException $failure) {
            $failure->results = $results;
            throw $failure;
        }

        return $results;
    }

    /**
     * The same, but returns each result when its request is done.
     *
     * @param iterable<array{
     *     UserCode: string,
     *     TrackingNumber: string,
     *     Reference?: string,
     *     Vendor?: string,
     *     Description?: string,
     * }> $prealerts
     * @return Generator<int, BatchResult>
     */
    public function submitEach(iterable $prealerts): Generator
    {
        $line = 0;
        $size = $this->options->batchLines;
        foreach ($this->requests->batches($prealerts, $size) as $lines) {
            while ($lines !== []) {
                $part = array_slice($lines, 0, $size);
                $response = $this->transport->send($this->withKey($this->requests->createBatch($part, false)));
                if ($response->status === 408 && count($part) > 1 && $this->options->maxRetries > 0) {
                    // The line is too slow for the batch. Nothing of it is stored.
                    $size = (int) ceil(count($part) / 2);
                    continue;
                }
                $results = self::resultsOf($response);
                foreach ($results as $result) {
                    $line++;
                    yield BatchResult::fromJson(['line' => $line] + $result);
                }
                IncompleteBatchException::throwIfCut(count($part), count($results));
                $lines = array_slice($lines, count($part));
            }
        }
    }

    /**
     * Submits up to 1,000 pre-alerts and returns one result per pre-alert, in the same order. If one is refused, none is
     * stored, and `errors` of the exception names each refused pre-alert: `row` is 1 for the first.
     *
     * @param list<array{
     *     UserCode: string,
     *     TrackingNumber: string,
     *     Reference?: string,
     *     Vendor?: string,
     *     Description?: string,
     * }> $prealerts
     * @param string|null $idempotencyKey Your own key, if you may submit the same pre-alerts again after a crash.
     * @return list<BatchResult>
     * @throws Exception\DuplicateException if all refused pre-alerts are duplicates
     * @throws Exception\InvalidRequestException if a user code is unknown, or a field is not acceptable
     */
    public function submitAllOrNone(array $prealerts, ?string $idempotencyKey = null): array
    {
        $size = RequestFactory::BATCH_LINES;
        $batches = iterator_to_array($this->requests->batches($prealerts, $size), false);
        if (count($batches) > 1) {
            throw new InvalidArgumentException('At most 1,000 pre-alerts, or 4 MiB, can be submitted all or none.');
        }
        if ($batches === []) {
            return [];
        }
        $request = $this->requests->createBatch($batches[0], true, $idempotencyKey);
        $results = self::resultsOf($this->transport->send($this->withKey($request)));
        IncompleteBatchException::throwIfCut(count($batches[0]), count($results));

        return array_map(BatchResult::fromJson(...), $results);
    }

    /** @return list<array<string, mixed>> */
    private static function resultsOf(Response $response): array
    {
        return self::successOf($response)->json()['data']['results'];
    }

    private function send(Request $request): Response
    {
        return self::successOf($this->transport->send($this->withKey($request)));
    }

    private static function successOf(Response $response): Response
    {
        return $response->isSuccess() ? $response : throw ApiException::fromResponse($response);
    }

    private function withKey(Request $request): Request
    {
        return str_starts_with($this->apiKey, self::TOKEN_PREFIX)
            ? $request->withHeader('Authorization', "Bearer $this->apiKey")
            : $request->withHeader('X-API-KEY', $this->apiKey);
    }
}
