<?php

declare(strict_types=1);

namespace Crossdock\Resource;

use Crossdock\Client;

/**
 * Flight manifests: packages that leave together.
 */
final class Manifests
{
    /**
     * @internal
     */
    public function __construct(private readonly Client $client)
    {
    }

    /**
     * Creates a draft and returns `manifest_id`, `manifest_number`, `status` and `awb_check`.
     *
     * @param array{awb_number?: string, warehouse_id?: string, remarks?: string} $manifest
     * @return array{manifest_id: string, manifest_number: string, status: string, awb_check: ?array<string, mixed>}
     */
    public function create(array $manifest = []): array
    {
        return $this->client->request('createManifest', body: $manifest)->data;
    }

    /**
     * Returns a manifest with its packages and totals: `info`, `packages` and `stats`.
     *
     * @return array{info: array<string, mixed>, packages: list<array<string, mixed>>, stats: array<string, mixed>}
     */
    public function get(string $manifestId): array
    {
        return $this->client->request('getManifest', ['id' => $manifestId])->data;
    }

    /**
     * Changes the given fields. A manifest moves one step at a time: draft, ready, shipped, completed.
     *
     * @param array{
     *     status?: 'ready'|'shipped'|'completed',
     *     awb_number?: string,
     *     airline_prefix?: string,
     *     flight_date?: string,
     *     flight_number?: string,
     *     notes?: string,
     *     remarks?: string,
     * } $changes
     */
    public function update(string $manifestId, array $changes): void
    {
        $this->act('update_meta', $manifestId, $changes);
    }

    /**
     * Adds packages, all or none. Returns how many were not on the manifest before.
     *
     * @param list<string> $packageIds
     */
    public function addPackages(string $manifestId, array $packageIds): int
    {
        return $this->act('add_packages', $manifestId, ['package_ids' => $packageIds])['added'];
    }

    /**
     * Removes packages, all or none. Returns how many.
     *
     * @param list<string> $packageIds
     */
    public function removePackages(string $manifestId, array $packageIds): int
    {
        return $this->act('remove_packages', $manifestId, ['package_ids' => $packageIds])['removed'];
    }

    /**
     * Deletes a manifest without packages permanently.
     */
    public function delete(string $manifestId): void
    {
        $this->act('delete_manifest', $manifestId, []);
    }

    /**
     * @param array<string, mixed> $fields
     * @return array<string, mixed>
     */
    private function act(string $action, string $manifestId, array $fields): array
    {
        $body = ['action' => $action, 'manifest_id' => $manifestId] + $fields;

        return $this->client->request('manageManifest', body: $body)->data;
    }
}
