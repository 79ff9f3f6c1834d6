import type { BenchTenant } from '../../rig/tenants.js';
import { rateRow, templateOf, type Bench, type Row } from '../measure.js';

/** The newest page of the demo tenant's audit log, which has an entry for each pre-alert that the run submitted. */
export const auditRow = (bench: Bench): Promise<Row> =>
  readOf(bench, { host: '127.0.0.1' }, 'list the audit log', '/api/AuditLog.php');

/** The first page of a courier's events. */
export const eventsRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  readOf(bench, tenant, 'list events', `/api/Events.php?courier_id=${tenant.courierId}&limit=100`);

/** The newest page of the tenant's webhook deliveries. */
export const deliveriesRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  readOf(bench, tenant, 'list webhook deliveries', '/api/WebhookDeliveries.php');

async function readOf(
  bench: Bench,
  tenant: Pick<BenchTenant, 'host'>,
  name: string,
  path: string,
): Promise<Row> {
  const template = await templateOf(tenant, { method: 'GET', path });
  return rateRow(bench, { name, template, bare: 'bareSelectMs' });
}
