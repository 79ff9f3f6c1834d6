<?php

declare(strict_types=1);

namespace Crossdock\Resource;

use Crossdock\Client;
use Crossdock\Page;
use Crossdock\Record\Package;
use Crossdock\Record\PackageReceipt;
use Generator;

/**
 * Packages in the warehouse.
 */
final class Packages
{
    /**
     * @internal
     */
    public function __construct(private readonly Client $client)
    {
    }

    /**
     * Returns all packages that match the filters, over all pages.
     *
     * @param array{
     *     trackingNumber?: string,
     *     houseNumber?: string,
     *     userCode?: string,
     *     shipper?: string,
     *     firstName?: string,
     *     lastName?: string,
     *     courierID?: string,
     *     carrierID?: string,
     *     entryDateFloor?: string,
     *     entryDateCeiling?: string,
     *     limit?: int,
     * } $filters
     * @return Generator<int, Package>
     */
    public function list(array $filters = []): Generator
    {
        foreach ($this->client->each('listPackages', $filters) as $record) {
            yield Package::fromJson($record);
        }
    }

    /**
     * Returns one page. `meta['total_weight']` is the weight of all pages in lb.
     *
     * @param array{
     *     page?: int,
     *     limit?: int,
     *     trackingNumber?: string,
     *     houseNumber?: string,
     *     userCode?: string,
     *     shipper?: string,
     *     firstName?: string,
     *     lastName?: string,
     *     courierID?: string,
     *     carrierID?: string,
     *     entryDateFloor?: string,
     *     entryDateCeiling?: string,
     * } $query
     * @return Page<Package>
     */
    public function page(array $query = []): Page
    {
        $result = $this->client->request('listPackages', body: $query);

        return new Page(array_map(Package::fromJson(...), $result->data), $result->meta['total_count'], $result->meta);
    }

    /**
     * Writes a spreadsheet of packages to a path or to an open resource. It has one page: at most 10,000 packages.
     *
     * @param string|resource $target
     * @param 'csv'|'xlsx' $format
     * @param array{
     *     page?: int,
     *     limit?: int,
     *     trackingNumber?: string,
     *     houseNumber?: string,
     *     userCode?: string,
     *     shipper?: string,
     *     firstName?: string,
     *     lastName?: string,
     *     courierID?: string,
     *     carrierID?: string,
     *     entryDateFloor?: string,
     *     entryDateCeiling?: string,
     * } $query
     * @return string|null The file name that the service suggests.
     */
    public function export(mixed $target, string $format = 'csv', array $query = []): ?string
    {
        $operation = $format === 'xlsx' ? 'exportPackagesXlsx' : 'exportPackagesCsv';

        return $this->client->download($operation, $target, $query + ['limit' => 10_000]);
    }

    /**
     * Receives a package at the warehouse. If the number was received before, the receipt has `duplicate`.
     *
     * @param array{
     *     tracking_number: string,
     *     weight: float|int,
     *     length?: float|int,
     *     width?: float|int,
     *     height?: float|int,
     *     package_type?: string,
     *     shipper?: string,
     *     description?: string,
     *     carrier_id?: string,
     *     courier_id?: string,
     *     user_code?: string,
     *     warehouse_id?: string,
     * } $package
     */
    public function receive(array $package): PackageReceipt
    {
        return PackageReceipt::fromJson($this->client->request('receivePackage', body: $package)->data);
    }

    /**
     * Changes the given fields of a package. Returns the number of fields that were different.
     *
     * @param array{
     *     user_code?: string,
     *     first_name?: string,
     *     last_name?: string,
     *     shipper?: string,
     *     description?: string,
     *     package_type?: string,
     *     tracking_number?: string,
     *     weight?: float|int,
     *     length?: float|int,
     *     width?: float|int,
     *     height?: float|int,
     * } $changes
     */
    public function update(string $packageId, array $changes): int
    {
        $body = ['package_id' => $packageId] + $changes;

        return $this->client->request('updatePackage', body: $body)->data['fields_updated'] ?? 0;
    }

    /**
     * Returns the history of a package.
     *
     * @return list<array<string, mixed>>
     */
    public function history(string $packageId): array
    {
        return $this->client->request('listPackageEvents', ['package_id' => $packageId])->data;
    }

    /**
     * Writes the label of a package to a path or to an open resource.
     *
     * @param string|resource $target
     * @param 'pdf'|'zpl' $format
     */
    public function label(string $packageId, mixed $target, string $format = 'pdf'): void
    {
        $this->client->download('getPackageLabel', $target, ['package_id' => $packageId, 'format' => $format]);
    }
}
