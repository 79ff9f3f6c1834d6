import type { OperationId } from '../../../generated/operations.js';
import type { Call, Service } from '../service/service.js';

/** A user of a tenant that is not part of the demo data. */
export type Account = { host: string; username: string; password: string };

/** Logs in and returns the access token. */
export async function logInAs(service: Service, { host, username, password }: Account): Promise<string> {
  const reply = await service.call('login', { host, body: { action: 'login', username, password } });
  if (reply.status !== 200) throw new Error(`${username}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body['data'].access_token;
}

type Page = [operationId: OperationId, call?: Call];

/** The ids of the records that the pages show. */
export type Shown = { courierId: string; manifestId: string; billId: string; packageId: string };

const pagesOf = ({ courierId, manifestId, billId, packageId }: Shown): Page[] => [
  ['listPrealerts', { query: { limit: 500 } }],
  ['listCustomers', { query: { limit: 100 } }],
  ['searchCustomers', { query: { q: 'ma' } }],
  ['searchCustomers', { query: { q: 'Marsha Cambel', advanced: 1 } }],
  ['listPackages', { body: { limit: 500 } }],
  ['exportPackagesCsv'],
  ['listPackageEvents', { query: { package_id: packageId } }],
  ['getPackageLabel', { query: { package_id: packageId } }],
  ['getManifest', { query: { id: manifestId } }],
  ['getManifestDocument', { query: { manifest_id: manifestId, format: 'csv' } }],
  ['listCourierBills'],
  ['getCourierBill', { query: { bill_id: billId } }],
  ['downloadCourierBill', { query: { bill_id: billId } }],
  ['getCourierStatement', { query: { courier_id: courierId, from: '2020-01-01', to: '2020-12-31' } }],
  ['getCourierRates', { query: { courier_id: courierId } }],
  ['getCourierSettings', { query: { id: courierId } }],
  ['listManifests'],
  ['listCouriers'],
  ['listWarehouses'],
  ['listCarriers'],
  ['listUsers'],
  ['listSessions'],
  ['listCustomerSyncs'],
  ['listWebhookDeliveries', { query: { limit: 100 } }],
  ['listEvents', { query: { courier_id: courierId, limit: 100 } }],
  ['listDispatches'],
  ['listAuditEntries', { query: { limit: 100 } }],
  ['getSecuritySettings'],
];

/**
 * Requests the main pages as a user. The service checks each response against the contract. Returns the pages that were not
 * served: the operations and their statuses.
 */
export async function readMainPages(service: Service, account: Account, shown: Shown): Promise<string[]> {
  const token = await logInAs(service, account);
  const refused: string[] = [];
  for (const [operationId, call] of pagesOf(shown)) {
    const { status } = await service.call(operationId, { ...call, host: account.host, token });
    if (status !== 200) refused.push(`${operationId} ${status}`);
  }
  return refused;
}
