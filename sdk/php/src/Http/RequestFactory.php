<?php

declare(strict_types=1);

namespace Crossdock\Http;

use Crossdock\File;
use Crossdock\Operations;
use Crossdock\Time;
use DateTimeInterface;
use Generator;
use InvalidArgumentException;

/**
 * Creates the request for an operation of the contract.
 *
 * @internal
 */
final class RequestFactory
{
    /** The limits of the service for one body. */
    public const BATCH_LINES = 1000;
    private const BATCH_BYTES = 4 * 1024 * 1024;

    private const JSON_FLAGS = JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE;

    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * @param array<string, mixed> $query Parameters of the query and of the path.
     * @param array<string, mixed>|null $body
     * @param resource|null $sink
     */
    public function create(
        string $operation,
        array $query = [],
        ?array $body = null,
        ?string $idempotencyKey = null,
        mixed $sink = null,
    ): Request {
        $known = Operations::TABLE[$operation] ?? throw new InvalidArgumentException(
            "There is no operation $operation. OPERATIONS.md lists all operations.",
        );
        self::checkNames($operation, 'parameter', $query, $known['parameters']);
        self::checkNames($operation, 'field', $body ?? [], $known['fields']);
        $query = self::withTexts($query, $known['dates']);
        $body = $body === null ? null : self::withTexts($body, $known['dates']);
        $path = $known['path'];
        foreach ($query as $name => $value) {
            if (str_contains($path, "{{$name}}")) {
                $path = str_replace("{{$name}}", rawurlencode((string) $value), $path);
                unset($query[$name]);
            }
        }
        $headers = [];
        if ($known['takesIdempotencyKey']) {
            $headers['Idempotency-Key'] = $idempotencyKey ?? self::newKey();
        }
        [$content, $mediaType] = self::encode($body, $known['mediaTypes']);
        if ($mediaType !== null) {
            $headers['Content-Type'] = $mediaType;
        }
        return new Request(
            $known['method'],
            $this->transport->url($path, $query),
            $headers,
            $content,
            $known['isRepeatable'],
            $sink,
            operation: $operation,
        );
    }

    /**
     * Divides pre-alerts into lines of JSON for one body each, at most as large as the service accepts them.
     *
     * @param iterable<array<string, mixed>> $prealerts
     * @param int $size How many lines a body has. It can shrink meanwhile.
     * @return Generator<int, list<string>>
     */
    public function batches(iterable $prealerts, int &$size): Generator
    {
        $lines = [];
        $bytes = 0;
        foreach ($prealerts as $prealert) {
            self::checkNames('submitPrealert', 'field', $prealert, Operations::TABLE['submitPrealert']['fields']);
            $line = json_encode($prealert, self::JSON_FLAGS) . "\n";
            if (count($lines) >= $size || $bytes + strlen($line) > self::BATCH_BYTES) {
                yield $lines;
                [$lines, $bytes] = [[], 0];
            }
            $lines[] = $line;
            $bytes += strlen($line);
        }
        if ($lines !== []) {
            yield $lines;
        }
    }

    /**
     * @param list<string> $lines
     */
    public function createBatch(array $lines, bool $atomic, ?string $idempotencyKey = null): Request
    {
        $known = Operations::TABLE['submitPrealert'];
        $headers = [
            'Content-Type' => 'application/x-ndjson',
            'Idempotency-Key' => $idempotencyKey ?? self::newKey(),
        ];
        $url = $this->transport->url($known['path'], $atomic ? ['atomic' => true] : []);

        $isDivisible = !$atomic && count($lines) > 1;

        return new Request(
            $known['method'],
            $url,
            $headers,
            implode('', $lines),
            true,
            null,
            $isDivisible,
            'submitPrealert',
        );
    }

    /**
     * Writes dates and times as the service reads them: a date as it is, a time in UTC.
     *
     * @param array<string, mixed> $given
     * @param list<string> $dates The names of the calendar dates.
     * @return array<string, mixed>
     */
    private static function withTexts(array $given, array $dates): array
    {
        foreach ($given as $name => $value) {
            if ($value instanceof DateTimeInterface) {
                $given[$name] = in_array($name, $dates, true)
                    ? $value->format('Y-m-d')
                    : Time::format($value);
            }
        }

        return $given;
    }

    private static function newKey(): string
    {
        return bin2hex(random_bytes(16));
    }

    /**
     * The service ignores names that it does not know. A misspelt filter would return every record.
     *
     * @param array<string, mixed> $given
     * @param list<string> $known
     */
    private static function checkNames(string $operation, string $kind, array $given, array $known): void
    {
        foreach (array_keys($given) as $name) {
            if (!in_array($name, $known, true)) {
                $all = $known === [] ? 'It has none.' : 'It has: ' . implode(', ', $known) . '.';
                throw new InvalidArgumentException("$operation has no $kind \"$name\". $all");
            }
        }
    }

    /**
     * @param array<string, mixed>|null $body
     * @param list<string> $mediaTypes What the operation accepts, the preferred one first.
     * @return array{string|array<string, mixed>|null, string|null} The body, and its type if curl does not set it.
     */
    private static function encode(?array $body, array $mediaTypes): array
    {
        if ($body === null || $mediaTypes === []) {
            return [null, null];
        }
        $hasFile = array_filter($body, static fn (mixed $value): bool => $value instanceof File) !== [];
        if (!$hasFile && $mediaTypes[0] === 'application/json') {
            return [json_encode($body === [] ? (object) [] : $body, self::JSON_FLAGS), 'application/json'];
        }
        $fields = array_map(static fn (mixed $value): mixed => match (true) {
            $value instanceof File => $value->part,
            is_bool($value) => $value ? 'true' : 'false',
            default => $value,
        }, array_filter($body, static fn (mixed $value): bool => $value !== null));
        if (!$hasFile && in_array('application/x-www-form-urlencoded', $mediaTypes, true)) {
            return [http_build_query($fields), 'application/x-www-form-urlencoded'];
        }

        return [$fields, null];
    }
}
