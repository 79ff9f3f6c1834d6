import type pg from 'pg';
import { DEMO } from '../../src/development/demo/demo.js';
import type { Body } from '../support/service/contract.js';
import { plantAuditLog } from '../support/builders/audit.js';
import { clone } from '../support/builders/couriers.js';
import { plantDispatch, plantLog } from '../support/builders/deliveries.js';
import { plantCouriers } from '../support/builders/register.js';
import type { Values } from './lists.js';

/** A filter's value, and which of the records it keeps. */
export type Filter = {
  value: string | number | boolean;
  keeps(record: Body): boolean;
  /** What is sent beside it, where it means nothing alone; the records to choose from are those that this selects. */
  beside?: Values;
};

/** Made of all the records that the list has without it. */
type MakeFilter = (all: Body[], owner: pg.Pool) => Filter | Promise<Filter>;

/** One that is no filter, and why. */
type NoFilter = { isNoFilter: string };

const contains = (value: string, ...fields: string[]): Filter => ({
  value,
  keeps: (record) => fields.some((field) => textOf(record[field]).includes(value.toLowerCase())),
});
const equals = (field: string, value: string): Filter => ({
  value,
  keeps: (record) => record[field] === value,
});
const textOf = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : '');

/** The value of a record in the middle, which others lack. */
const middle = (all: Body[], field: string) => String(all[Math.floor(all.length / 2)]?.[field]);

/** A row of a small table by its id: lists show the name alone. */
async function nameOf(owner: pg.Pool, table: 'couriers' | 'carriers', id: string): Promise<string> {
  const { rows } = await owner.query<{ name: string }>(`select name from ${table} where id = $1`, [id]);
  return rows[0]?.name ?? '';
}

/** Ended synchronisations of both couriers, which the demo does not have. */
async function plantSyncs(owner: pg.Pool): Promise<void> {
  await owner.query(
    `insert into customer_sync_runs (tenant_id, id, courier_id, origin, status, finished_at)
     select $1, new_id(), courier, 'schedule', status, now()
     from unnest($2::uuid[]) courier, unnest(array['succeeded', 'failed']) status`,
    [DEMO.tenants.demo, [DEMO.couriers.IEX, DEMO.couriers.HRB]],
  );
}

/**
 * What each filter of each list leaves out, tried on the demo data. `<operation> <field>`; what takes a limit is a
 * list, and a field of a list that is missing here fails filters.test.ts.
 */
export const FILTERS: Record<string, MakeFilter | NoFilter> = {
  'listPrealerts status': () => equals('status', 'flagged'),
  'listPrealerts courier_id': () => equals('courier_id', DEMO.couriers.HRB),
  'listPrealerts search': () =>
    contains('IEX-10', 'tracking_number', 'user_code', 'vendor', 'first_name', 'last_name'),

  'listUsers role': () => equals('role', 'courier'),
  'listUsers courier_id': () => equals('courier_id', DEMO.couriers.HRB),
  'listUsers is_active': () => ({ value: false, keeps: (record) => record['is_active'] === false }),
  'listUsers search': () => contains('manager', 'username', 'full_name'),

  'listSessions user_id': { isNoFilter: 'says whose sessions' },
  'listSessions is_active': { isNoFilter: 'open sessions or ended ones: sessions.test.ts' },

  'listCustomers action': { isNoFilter: 'asks for the branches instead of customers' },
  'listCustomers search': () => contains('an', 'user_code', 'first_name', 'last_name'),
  'listCustomers branch': () => equals('branch', 'Montego Bay'),
  'listCustomers courier_id': () => equals('courier_id', DEMO.couriers.HRB),

  'searchCustomers q': { isNoFilter: 'what is looked for: search-customers.test.ts has an oracle for it' },
  'searchCustomers advanced': { isNoFilter: 'how it is looked for' },
  'searchCustomers courier_id': () => equals('courier_id', DEMO.couriers.HRB),

  'listCustomerSyncs courier_id': async (_all, owner) => {
    await plantSyncs(owner);
    return equals('courier_id', DEMO.couriers.HRB);
  },
  'listCustomerSyncs status': async (_all, owner) => {
    await plantSyncs(owner);
    return equals('status', 'failed');
  },

  'loadCourierBills courier_id': async (_all, owner) => {
    await clone(owner, 'bills', DEMO.bills.draft, {
      courier_id: DEMO.couriers.HRB,
      invoice_number: 'INV-HRB-1',
    });
    return equals('courier_id', DEMO.couriers.HRB);
  },
  'loadCourierBills status': () => equals('status', 'published'),
  // by the period, of which one day is enough
  'loadCourierBills from': (all) => {
    const date = middle(all, 'end_date');
    return { value: date, keeps: (record) => String(record['end_date']) >= date };
  },
  'loadCourierBills to': (all) => {
    const date = middle(all, 'start_date');
    return { value: date, keeps: (record) => String(record['start_date']) <= date };
  },

  'getCourierBill bill_id': { isNoFilter: 'says which bill' },
  'courierStatement courier_id': { isNoFilter: 'says whose account' },
  'courierStatement from': (all) => {
    const date = String(all.at(-1)?.['date']);
    return { value: date, keeps: (record) => String(record['date']) >= date };
  },
  'courierStatement to': (all) => {
    const date = String(all[0]?.['date']);
    return { value: date, keeps: (record) => String(record['date']) <= date };
  },

  'billingReconciliation courier_id': () => equals('courier_id', DEMO.couriers.HRB),
  'billingReconciliation from': (all) => {
    const date = middle(all, 'received_at').slice(0, 10);
    return { value: date, keeps: (record) => String(record['received_at']).slice(0, 10) >= date };
  },
  'billingReconciliation to': (all) => {
    const date = middle(all, 'received_at').slice(0, 10);
    return { value: date, keeps: (record) => String(record['received_at']).slice(0, 10) <= date };
  },

  'listWebhookDeliveries courier_id': async (_all, owner) => {
    await plantLog(owner);
    return equals('courier_id', DEMO.couriers.HRB);
  },
  'listWebhookDeliveries status': async (_all, owner) => {
    await plantLog(owner);
    return equals('status', 'failed');
  },
  'listWebhookDeliveries endpoint': async (_all, owner) => {
    await plantLog(owner);
    return equals('endpoint', 'add_package');
  },
  'listWebhookDeliveries type': async (_all, owner) => {
    await plantLog(owner);
    return equals('type', 'package.status_changed');
  },
  'listWebhookDeliveries event_id': async (_all, owner) =>
    equals('event_id', (await plantLog(owner)).eventId),
  'listWebhookDeliveries package_id': async (_all, owner) =>
    equals('package_id', (await plantLog(owner)).packageId),
  // a delivery of the day itself, first and last second, is in
  'listWebhookDeliveries from': async (_all, owner) => {
    const { day } = await plantLog(owner);
    return { value: day, keeps: (record) => String(record['created_at']).slice(0, 10) >= day };
  },
  'listWebhookDeliveries to': async (_all, owner) => {
    const { day } = await plantLog(owner);
    return { value: day, keeps: (record) => String(record['created_at']).slice(0, 10) <= day };
  },

  'listCouriers search': () => contains('harb', 'courier_code', 'courier_name', 'company_name'),
  'listCouriers is_active': async (_all, owner) => {
    await plantCouriers(owner);
    return { value: false, keeps: (record) => record['is_active'] === false };
  },

  'readEvents courier_id': { isNoFilter: 'says whose events' },

  'listDispatches dispatch_id': async (_all, owner) => {
    await plantDispatch(owner);
    return equals('dispatch_id', await plantDispatch(owner));
  },

  'listAuditLog actor_id': async (_all, owner) => {
    await plantAuditLog(owner);
    return equals('actor_id', DEMO.users.admin);
  },
  'listAuditLog actor_kind': async (_all, owner) => {
    await plantAuditLog(owner);
    return equals('actor_kind', 'system');
  },
  'listAuditLog entity': async (_all, owner) => {
    await plantAuditLog(owner);
    return equals('entity', 'manifest');
  },
  'listAuditLog entity_id': async (_all, owner) => equals('entity_id', (await plantAuditLog(owner)).entityId),
  'listAuditLog action': async (_all, owner) => {
    await plantAuditLog(owner);
    return equals('action', 'package.received');
  },
  'listAuditLog request_id': async (_all, owner) =>
    equals('request_id', (await plantAuditLog(owner)).requestId),
  'listAuditLog from': async (_all, owner) => {
    const { day } = await plantAuditLog(owner);
    return { value: day, keeps: (record) => String(record['at']).slice(0, 10) >= day };
  },
  'listAuditLog to': async (_all, owner) => {
    const { day } = await plantAuditLog(owner);
    return { value: day, keeps: (record) => String(record['at']).slice(0, 10) <= day };
  },

  'retrievePackages export': { isNoFilter: 'asks for a file' },
  'retrievePackages export_format': { isNoFilter: 'says which file' },
  'retrievePackages action': { isNoFilter: 'asks for something to be done' },
  'retrievePackages package_ids': { isNoFilter: 'names what queue_dispatch is for' },
  'retrievePackages trackingNumber': (all) =>
    contains(middle(all, 'tracking_number').slice(2, 6), 'tracking_number'),
  'retrievePackages houseNumber': (all) => equals('house_number', middle(all, 'house_number')),
  'retrievePackages userCode': (all) =>
    equals('user_code', String(all.find((each) => each['user_code'] !== null)?.['user_code'])),
  'retrievePackages shipper': () => contains('ama', 'shipper'),
  'retrievePackages firstName': () => contains('an', 'first_name'),
  'retrievePackages lastName': () => contains('br', 'last_name'),
  'retrievePackages courierID': async (_all, owner) => ({
    ...equals('courier_name', await nameOf(owner, 'couriers', DEMO.couriers.HRB)),
    value: DEMO.couriers.HRB,
  }),
  'retrievePackages carrierID': async (all, owner) => {
    const { rows } = await owner.query<{ id: string; name: string }>(
      'select id, name from carriers where tenant_id = $1 and name = any($2) order by name limit 1',
      [DEMO.tenants.demo, all.map((record) => record['carrier_name'])],
    );
    return { ...equals('carrier_name', String(rows[0]?.name)), value: String(rows[0]?.id) };
  },
  'retrievePackages entryDateFloor': (all) => {
    const date = middle(all, 'entry_date_time').slice(0, 10);
    return { value: date, keeps: (record) => String(record['entry_date_time']).slice(0, 10) >= date };
  },
  'retrievePackages entryDateCeiling': (all) => {
    const date = middle(all, 'entry_date_time').slice(0, 10);
    return { value: date, keeps: (record) => String(record['entry_date_time']).slice(0, 10) <= date };
  },
};
