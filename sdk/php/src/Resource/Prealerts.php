<?php

declare(strict_types=1);

namespace Crossdock\Resource;

use Crossdock\Client;
use Crossdock\File;
use Crossdock\Page;
use Crossdock\Record\Prealert;
use Crossdock\Record\PrealertImport;
use Crossdock\SubmittedPrealert;
use Generator;

/**
 * Pre-alerts of couriers. To submit them with an API key, use KeyClient.
 */
final class Prealerts
{
    /**
     * @internal
     */
    public function __construct(private readonly Client $client)
    {
    }

    /**
     * Returns the pre-alerts of all pages. A record that leaves the list while you read hides another one, so do not filter by a
     * field that changes meanwhile, for example the status.
     *
     * @param array{
     *     status?: 'pending'|'received'|'flagged',
     *     search?: string,
     *     courier_id?: string,
     *     sort_by?: string,
     *     sort_dir?: 'ASC'|'DESC',
     *     limit?: int,
     * } $filters
     * @return Generator<int, Prealert>
     */
    public function list(array $filters = []): Generator
    {
        foreach ($this->client->each('listPrealerts', $filters) as $record) {
            yield Prealert::fromJson($record);
        }
    }

    /**
     * Returns one page. `meta['stats']` counts the pre-alerts of all pages by status.
     *
     * @param array{
     *     page?: int,
     *     limit?: int,
     *     status?: 'pending'|'received'|'flagged',
     *     search?: string,
     *     courier_id?: string,
     *     sort_by?: string,
     *     sort_dir?: 'ASC'|'DESC',
     * } $query
     * @return Page<Prealert>
     */
    public function page(array $query = []): Page
    {
        $result = $this->client->request('listPrealerts', $query);
        $items = array_map(Prealert::fromJson(...), $result->data);

        return new Page($items, $result->meta['total_records'], $result->meta);
    }

    /**
     * Creates a pre-alert and returns its `prealert_id` and the `warnings`. Staff name the courier with `courier_id`.
     *
     * @param array{
     *     tracking_number: string,
     *     user_code: string,
     *     vendor: string,
     *     description?: string,
     *     courier_id?: string,
     * } $prealert
     * @throws \Crossdock\Exception\DuplicateException if the courier already has one with this tracking number
     */
    public function create(array $prealert): SubmittedPrealert
    {
        return SubmittedPrealert::fromJson($this->client->request('createPrealert', body: $prealert)->data);
    }

    /**
     * Replaces the editable fields of a pre-alert. Omitting `description` clears it.
     *
     * @param array{
     *     prealert_id: string,
     *     tracking_number: string,
     *     user_code: string,
     *     vendor: string,
     *     description?: string,
     * } $prealert
     */
    public function replace(array $prealert): Prealert
    {
        return Prealert::fromJson($this->client->request('replacePrealert', body: $prealert)->data);
    }

    /**
     * Deletes a pre-alert permanently.
     */
    public function delete(string $prealertId): void
    {
        $this->client->request('deletePrealert', body: ['prealert_id' => $prealertId]);
    }

    /**
     * Creates pre-alerts from a CSV file with a line of column names, for example tracking_number and user_code. All
     * rows, or none. Rows that were announced before are counted as `duplicate`.
     *
     * @param string|resource $file A path, or an open resource.
     * @param string|null $courierId Required for staff.
     * @param bool $dryRun Checks the file and stores nothing.
     * @throws \Crossdock\Exception\InvalidRequestException if a row is wrong: `errors` has row, field and message
     */
    public function upload(mixed $file, ?string $courierId = null, bool $dryRun = false): PrealertImport
    {
        $result = $this->client->request('uploadPrealerts', body: [
            'file' => File::from($file, 'prealerts.csv', 'text/csv'),
            'target_courier_id' => $courierId,
            'dry_run' => $dryRun,
        ]);

        return PrealertImport::fromJson($result->data);
    }
}
