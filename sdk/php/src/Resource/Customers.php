<?php

declare(strict_types=1);

namespace Crossdock\Resource;

use Crossdock\Client;
use Crossdock\File;
use Crossdock\Page;
use Crossdock\Record\Customer;
use Crossdock\Record\CustomerImport;
use Crossdock\Record\CustomerMatch;
use Generator;

/**
 * Customers of couriers.
 */
final class Customers
{
    /**
     * @internal
     */
    public function __construct(private readonly Client $client)
    {
    }

    /**
     * Returns all customers that match the filters, over all pages.
     *
     * @param array{
     *     search?: string,
     *     branch?: string,
     *     courier_id?: string,
     *     sort_by?: string,
     *     sort_dir?: 'ASC'|'DESC',
     *     limit?: int,
     * } $filters
     * @return Generator<int, Customer>
     */
    public function list(array $filters = []): Generator
    {
        foreach ($this->client->each('listCustomers', $filters) as $record) {
            yield Customer::fromJson($record);
        }
    }

    /**
     * Returns one page.
     *
     * @param array{
     *     page?: int,
     *     limit?: int,
     *     search?: string,
     *     branch?: string,
     *     courier_id?: string,
     *     sort_by?: string,
     *     sort_dir?: 'ASC'|'DESC',
     * } $query
     * @return Page<Customer>
     */
    public function page(array $query = []): Page
    {
        $result = $this->client->request('listCustomers', $query);

        return new Page(array_map(Customer::fromJson(...), $result->data), $result->json['total'], $result->meta);
    }

    /**
     * Finds customers by name, e-mail or user code. `advanced` also finds misspelt names.
     *
     * @param array{advanced?: bool, limit?: int, courier_id?: string} $options
     * @return list<CustomerMatch>
     */
    public function search(string $text, array $options = []): array
    {
        $result = $this->client->request('searchCustomers', ['q' => $text] + $options);

        return array_map(CustomerMatch::fromJson(...), $result->data);
    }

    /**
     * Creates a customer and returns its `courier_customer_id`. Staff name the courier with `courier_id`.
     *
     * @param array{
     *     user_code: string,
     *     first_name: string,
     *     last_name: string,
     *     branch?: string,
     *     email?: string,
     *     is_active?: 0|1,
     *     courier_id?: string,
     * } $customer
     * @throws \Crossdock\Exception\DuplicateException if the courier already has a customer with this user code
     */
    public function create(array $customer): string
    {
        return $this->client->request('createCustomer', body: $customer)->data['id'];
    }

    /**
     * Changes the given fields of a customer.
     *
     * @param array{
     *     user_code?: string,
     *     first_name?: string,
     *     last_name?: string,
     *     branch?: string,
     *     email?: string,
     *     is_active?: 0|1,
     * } $changes
     */
    public function update(string $customerId, array $changes): void
    {
        $this->client->request('updateCustomer', body: ['courier_customer_id' => $customerId] + $changes);
    }

    /**
     * Deletes a customer permanently. Its packages are kept.
     */
    public function delete(string $customerId): void
    {
        $this->client->request('deleteCustomer', body: ['courier_customer_id' => $customerId]);
    }

    /**
     * Creates and updates customers from a CSV file: user_code, first_name, last_name, branch. All rows, or none.
     *
     * @param string|resource $file A path, or an open resource.
     * @param string|null $courierId Required for staff.
     * @param bool $dryRun Checks the file and stores nothing.
     * @throws \Crossdock\Exception\InvalidRequestException if a row is wrong: `errors` has row, field and message
     */
    public function upload(mixed $file, ?string $courierId = null, bool $dryRun = false): CustomerImport
    {
        $result = $this->client->request('uploadCustomers', body: [
            'file' => File::from($file, 'customers.csv', 'text/csv'),
            'target_courier_id' => $courierId,
            'dry_run' => $dryRun,
        ]);

        return CustomerImport::fromJson($result->data);
    }
}
