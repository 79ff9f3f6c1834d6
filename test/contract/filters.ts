import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { DEMO } from '../../fixtures/demo/demo.js';
import type { OperationId } from '../../src/platform/contract/types.js';
import type { Body } from '../support/service/contract.js';
import { insertAuditLog } from '../support/builders/audit.js';
import { clone } from '../support/builders/couriers.js';
import { insertDelivered, insertFeeds, insertRefusals } from '../support/fixture/feeds.js';
import { insertNotices } from '../support/fixture/notices.js';
import { insertClaim } from '../support/builders/parcels.js';
import { insertDispatch, insertLabelJob, insertLog } from '../support/builders/deliveries.js';
import { insertCouriers, insertLocations } from '../support/builders/register.js';
import type { Values } from './lists.js';

/** A filter's value, and the records that match it. */
type Filter = {
  value: string | number | boolean | string[];
  matches(record: Body): boolean;
  /**
   * Parameters to send along if the filter has no effect alone. They also limit the records to compare with.
   */
  extraParams?: Values;
};

/** Makes a filter from all records of the unfiltered list. */
type MakeFilter = (all: Body[], owner: pg.Pool) => Filter | Promise<Filter>;

/** A parameter that is not a filter, with the reason. */
type NoFilter = { isNoFilter: string };

const contains = (value: string, ...fields: string[]): Filter => ({
  value,
  matches: (record) => fields.some((field) => textOf(record[field]).includes(value.toLowerCase())),
});
const equals = (field: string, value: string): Filter => ({
  value,
  matches: (record) => record[field] === value,
});
const TODAY = new Date().toISOString().slice(0, 10);
/** Manifests that fly on a day or later, or else on it or earlier. One without a day is none of them. */
const flownSince = (day: string, isSince: boolean): Filter => ({
  value: day,
  matches: ({ flight_date: flown }) => typeof flown === 'string' && (isSince ? flown >= day : flown <= day),
});
/** Only in the body, several values are possible. */
const oneOrSeveral = (id: OperationId, value: string): string | string[] =>
  id === 'listPackages' ? [value] : value;

const textOf = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : '');

/** Returns the value of a record in the middle, which some other records lack. */
const middleValue = (all: Body[], field: string) => String(all[Math.floor(all.length / 2)]?.[field]);

/** Returns the name of a row, because lists show the name and not the id. */
async function nameOf(owner: pg.Pool, table: 'couriers' | 'carriers', id: string): Promise<string> {
  const { rows } = await owner.query<{ name: string }>(`select name from ${table} where id = $1`, [id]);
  return rows[0]?.name ?? '';
}

/** Inserts finished checks of two URLs of both couriers, and returns the id of one. The demo has none. */
async function insertChecks(owner: pg.Pool): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(
    `insert into integration_checks (tenant_id, id, courier_id, endpoint, status, finished_at)
     select $1, new_id(), courier, endpoint, 'finished', now()
     from unnest($2::uuid[]) courier, unnest(array['add_package', 'get_customers']) endpoint
     returning id`,
    [DEMO.tenants.demo, [DEMO.couriers.IEX, DEMO.couriers.HRB]],
  );
  return rows[0]?.id ?? '';
}

/** Inserts a call of each credential of both couriers, and returns one. The demo has none. */
async function insertCalls(owner: pg.Pool): Promise<{ request_id: string; credential_id: string }> {
  const { rows } = await owner.query<{ request_id: string; credential_id: string }>(
    `with call as (
       insert into api_calls (tenant_id, request_id, courier_id, called_at, operation_id, status, code, duration_ms, credential, credential_id,
         expires_at)
       select $1, overlay(overlay(new_id()::text placing substr(ms, 1, 8) from 1) placing substr(ms, 9) from 10)::uuid, courier, at, (array['submitPrealert', 'listPackages', 'getPackage'])[n],
         (array[201, 409, 503])[n], (array[null, 'duplicate_tracking_number', 'unavailable'])[n], 10,
         (array['api_key', 'service_token', 'access_token'])[n], case when n > 1 then new_id() end, now() + interval '1 day'
       from unnest($2::uuid[]) courier, generate_series(1, 3) n, lateral (select now() - n * interval '1 day' as at) time,
         -- Request ids begin with the time.
         lateral (select lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as ms) id
       returning *
     ), named as (
       insert into api_call_parcels (tenant_id, request_id, parcel_key, courier_id)
       select tenant_id, request_id, 'FILTERED7', courier_id from call where status = 201
     )
     select request_id, credential_id from call where credential = 'service_token'`,
    [DEMO.tenants.demo, [DEMO.couriers.IEX, DEMO.couriers.HRB]],
  );
  return rows[0] ?? { request_id: '', credential_id: '' };
}

/** Makes the filter of a field of calls, once they are inserted. */
const ofCalls =
  (field: string, value: string): MakeFilter =>
  async (_all, owner) => {
    await insertCalls(owner);
    return equals(field, value);
  };

/** Two days ago, between the calls that insertCalls inserts. */
const BETWEEN_CALLS = new Date(Date.now() - 36 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');

/** Inserts finished synchronisations of both couriers. The demo has none. */
async function insertSyncs(owner: pg.Pool): Promise<void> {
  await owner.query(
    `insert into customer_sync_runs (tenant_id, id, courier_id, origin, status, finished_at)
     select $1, new_id(), courier, 'schedule', status, now()
     from unnest($2::uuid[]) courier, unnest(array['succeeded', 'failed']) status`,
    [DEMO.tenants.demo, [DEMO.couriers.IEX, DEMO.couriers.HRB]],
  );
}

/** Inserts label jobs of two stations. The demo has none. */
async function insertLabelJobs(owner: pg.Pool): Promise<void> {
  const packageId = DEMO.packages.available.IEX[0] ?? '';
  for (const status of ['failed', 'printed'] as const)
    for (const station of ['belt-1', 'belt-2']) {
      const id = await insertLabelJob(owner, { packageId, status, claimId: randomUUID() });
      await owner.query('update label_jobs set station = $2 where id = $1', [id, station]);
    }
}

const DAY_ZONE: NoFilter = {
  isNoFilter: 'says in which time zone the days of other filters begin: days-of-zones.test.ts',
};

/**
 * The filters of each list, as `<operation> <field>`, tried on the demo data. An operation with a limit is a
 * list; filters.test.ts fails if one of its fields is missing here.
 */
export const FILTERS: Record<string, MakeFilter | NoFilter> = {
  'listPrealerts status': () => equals('status', 'flagged'),
  'listPrealerts courier_id': () => equals('courier_id', DEMO.couriers.HRB),
  'listPrealerts search': () =>
    contains('IEX-10', 'tracking_number', 'user_code', 'vendor', 'first_name', 'last_name'),

  'listTeam role': () => equals('role', 'courier'),
  'listTeam courier_id': () => equals('courier_id', DEMO.couriers.HRB),
  'listTeam is_active': async (_all, owner) => {
    await owner.query('update users set is_active = false where id = $1', [DEMO.users.warehouse]);
    return { value: false, matches: ({ user_id: id }) => id === DEMO.users.warehouse };
  },
  'listTeam search': () => contains('hrb', 'username', 'full_name'),
  'listUsers role': () => equals('role', 'courier'),
  'listUsers courier_id': () => equals('courier_id', DEMO.couriers.HRB),
  'listUsers is_active': () => ({ value: false, matches: (record) => record['is_active'] === false }),
  'listUsers search': () => contains('manager', 'username', 'full_name'),

  'listSessions user_id': { isNoFilter: 'selects the user whose sessions are listed' },
  'listSessions is_active': { isNoFilter: 'selects active or ended sessions: sessions.test.ts' },

  'listFeeds courier_id': async (_all, owner) => {
    await insertFeeds(owner, [DEMO.couriers.IEX, DEMO.couriers.HRB]);
    return equals('courier_id', DEMO.couriers.HRB);
  },
  'listFeedRefusals courier_id': async (_all, owner) => {
    await insertFeeds(owner, [DEMO.couriers.IEX, DEMO.couriers.HRB]);
    await insertRefusals(owner);
    return equals('courier_id', DEMO.couriers.HRB);
  },
  'listNotices courier_id': async (_all, owner) => {
    await insertNotices(owner);
    return equals('courier_id', DEMO.couriers.HRB);
  },
  'listNotices package_id': (all) => equals('package_id', String(all[0]?.['package_id'])),
  'listNotices user_code': (all) => equals('user_code', String(all[0]?.['user_code'])),
  'listNotices status': () => equals('status', 'no_address'),
  'listMissingPrealerts courier_id': async (_all, owner) => {
    await insertDelivered(owner);
    return equals('courier_id', DEMO.couriers.HRB);
  },
  'listMissingPrealerts after_hours': { isNoFilter: 'replaces a setting: missing-prealerts.test.ts' },
  'listServiceTokens courier_id': { isNoFilter: 'selects the owner whose tokens are listed' },
  'listServiceTokens is_active': {
    isNoFilter: 'selects active or ended tokens: manage-service-tokens.test.ts',
  },

  'listCustomers action': { isNoFilter: 'returns the branches instead of customers' },
  'listCustomers search': () => contains('an', 'user_code', 'first_name', 'last_name'),
  'listCustomers branch': () => equals('branch', 'Montego Bay'),
  'listCustomers courier_id': () => equals('courier_id', DEMO.couriers.HRB),
  ...customerFilters('exportCustomersCsv'),
  ...customerFilters('exportCustomersXlsx'),

  'searchCustomers q': { isNoFilter: 'is the search text: search-customers.test.ts has an oracle for it' },
  'searchCustomers advanced': { isNoFilter: 'selects the search mode' },
  'searchCustomers courier_id': () => equals('courier_id', DEMO.couriers.HRB),

  'listCustomerSyncs courier_id': async (_all, owner) => {
    await insertSyncs(owner);
    return equals('courier_id', DEMO.couriers.HRB);
  },
  'listCustomerSyncs status': async (_all, owner) => {
    await insertSyncs(owner);
    return equals('status', 'failed');
  },

  'listCourierBills courier_id': async (_all, owner) => {
    await clone(owner, 'bills', DEMO.bills.draft, {
      courier_id: DEMO.couriers.HRB,
      invoice_number: 'INV-HRB-1',
    });
    return equals('courier_id', DEMO.couriers.HRB);
  },
  'listCourierBills status': () => equals('status', 'published'),
  'listCourierBills overdue': async (_all, owner) => {
    await clone(owner, 'bills', DEMO.bills.published, {
      invoice_number: 'INV-LATE-1',
      sequence_number: null,
      due_date: '2020-01-01',
    });
    return { value: true, matches: (record) => record['is_overdue'] === true };
  },
  // Filters by the period; an overlap of one day is enough.
  'listCourierBills from': (all) => {
    const date = middleValue(all, 'end_date');
    return { value: date, matches: (record) => String(record['end_date']) >= date };
  },
  'listCourierBills to': (all) => {
    const date = middleValue(all, 'start_date');
    return { value: date, matches: (record) => String(record['start_date']) <= date };
  },

  'listCourierStatements overdue': async (_all, owner) => {
    await insertCouriers(owner);
    await clone(owner, 'bills', DEMO.bills.published, {
      courier_id: DEMO.couriers.HRB,
      invoice_number: 'INV-LATE-2',
      sequence_number: null,
      due_date: '2020-01-01',
    });
    return { value: true, matches: (record) => Number(record['overdue']) > 0 };
  },
  'listBillingRun month': { isNoFilter: 'selects the figures of each courier: list-billing-run.test.ts' },

  'listBillMails bill_id': { isNoFilter: 'selects the bill' },
  'getCourierBill bill_id': { isNoFilter: 'selects the bill' },
  'getCourierStatement courier_id': { isNoFilter: 'selects the account' },
  'getCourierStatement from': (all) => {
    const date = String(all.at(-1)?.['date']);
    return { value: date, matches: (record) => String(record['date']) >= date };
  },
  'getCourierStatement to': (all) => {
    const date = String(all[0]?.['date']);
    return { value: date, matches: (record) => String(record['date']) <= date };
  },

  'getBillingReconciliation courier_id': () => equals('courier_id', DEMO.couriers.HRB),
  'getBillingReconciliation from': (all) => {
    const date = middleValue(all, 'received_at').slice(0, 10);
    return { value: date, matches: (record) => String(record['received_at']).slice(0, 10) >= date };
  },
  'getBillingReconciliation to': (all) => {
    const date = middleValue(all, 'received_at').slice(0, 10);
    return { value: date, matches: (record) => String(record['received_at']).slice(0, 10) <= date };
  },

  'listWebhookDeliveries courier_id': async (_all, owner) => {
    await insertLog(owner);
    return equals('courier_id', DEMO.couriers.HRB);
  },
  'listWebhookDeliveries status': async (_all, owner) => {
    await insertLog(owner);
    return equals('status', 'failed');
  },
  'listWebhookDeliveries endpoint': async (_all, owner) => {
    await insertLog(owner);
    return equals('endpoint', 'add_package');
  },
  'listWebhookDeliveries type': async (_all, owner) => {
    await insertLog(owner);
    return equals('type', 'package.status_changed');
  },
  'listWebhookDeliveries event_id': async (_all, owner) =>
    equals('event_id', (await insertLog(owner)).eventId),
  'listWebhookDeliveries package_id': async (_all, owner) =>
    equals('package_id', (await insertLog(owner)).packageId),
  // The day's first and last second are included.
  'listWebhookDeliveries from': async (_all, owner) => {
    const { day } = await insertLog(owner);
    return { value: day, matches: (record) => String(record['created_at']).slice(0, 10) >= day };
  },
  'listWebhookDeliveries to': async (_all, owner) => {
    const { day } = await insertLog(owner);
    return { value: day, matches: (record) => String(record['created_at']).slice(0, 10) <= day };
  },

  'listIntegrationChecks courier_id': async (_all, owner) => {
    await insertChecks(owner);
    return equals('courier_id', DEMO.couriers.HRB);
  },
  'listIntegrationChecks endpoint': async (_all, owner) => {
    await insertChecks(owner);
    return equals('endpoint', 'get_customers');
  },
  'listIntegrationChecks check_id': async (_all, owner) => equals('check_id', await insertChecks(owner)),
  'listApiCalls courier_id': ofCalls('courier_id', DEMO.couriers.HRB),
  'listApiCalls request_id': async (_all, owner) =>
    equals('request_id', (await insertCalls(owner)).request_id),
  'listApiCalls credential_id': async (_all, owner) =>
    equals('credential_id', (await insertCalls(owner)).credential_id),
  'listApiCalls code': ofCalls('code', 'duplicate_tracking_number'),
  'listApiCalls operation': ofCalls('operation', 'listPackages'),
  'listApiCalls credential': ofCalls('credential', 'service_token'),
  'listApiCalls status_class': async (_all, owner) => {
    await insertCalls(owner);
    return { value: '5xx', matches: ({ status }) => Math.floor(Number(status) / 100) === 5 };
  },
  'listApiCalls parcel': async (_all, owner) => {
    await insertCalls(owner);
    return { value: 'FILTERED7', matches: ({ parcels }) => textOf(String(parcels)).includes('filtered7') };
  },
  'listApiCalls since': async (_all, owner) => {
    await insertCalls(owner);
    return { value: BETWEEN_CALLS, matches: (record) => String(record['called_at']) >= BETWEEN_CALLS };
  },
  'listApiCalls until': async (_all, owner) => {
    await insertCalls(owner);
    return { value: BETWEEN_CALLS, matches: (record) => String(record['called_at']) < BETWEEN_CALLS };
  },
  'listWebhookHealth courier_id': () => equals('courier_id', DEMO.couriers.HRB),
  'listWebhookHealth endpoint': () => equals('endpoint', 'get_customers'),
  'listWebhookHealth state': async (_all, owner) => {
    await owner.query('update couriers set api_url_add_package = $1 where id = $2', [
      'https://health.example/hooks',
      DEMO.couriers.HRB,
    ]);
    return equals('state', 'active');
  },

  'listCouriers search': () => contains('harb', 'courier_code', 'courier_name', 'company_name'),
  'listCouriers is_active': async (_all, owner) => {
    await insertCouriers(owner);
    return { value: false, matches: (record) => record['is_active'] === false };
  },

  'listEvents courier_id': { isNoFilter: 'selects the courier whose events are listed' },

  'listLocations q': async (_all, owner) => {
    await insertLocations(owner);
    return contains('Row B', 'location');
  },
  'listLocations warehouse_id': async (_all, owner) => {
    await insertLocations(owner);
    return equals('warehouse_id', DEMO.warehouses.second);
  },
  'listManifests status': () => equals('status', 'shipped'),
  'listManifests q': () => ({
    value: '106-1234',
    matches: (record) => String(record['awb_number']).startsWith('106-1234'),
  }),
  'listManifests flight_from': () => flownSince(TODAY, true),
  'listManifests flight_to': () => flownSince(TODAY, false),
  'listDispatches dispatch_id': async (_all, owner) => {
    await insertDispatch(owner);
    return equals('dispatch_id', await insertDispatch(owner));
  },

  'listLabelJobs station': async (_all, owner) => {
    await insertLabelJobs(owner);
    return equals('station', 'belt-2');
  },
  'listLabelJobs status': async (_all, owner) => {
    await insertLabelJobs(owner);
    return equals('status', 'failed');
  },
  'listParcelClaims status': async (_all, owner) => {
    for (const status of ['open', 'refused'] as const)
      await insertClaim(owner, { courierId: DEMO.couriers.IEX, trackingNumber: randomUUID(), status });
    return equals('status', 'refused');
  },
  'getManifestLoading manifest_id': {
    isNoFilter: 'required; another manifest has other packages: loading-gate.test.ts',
  },
  'getManifestLoading list': { isNoFilter: 'selects the list: loading-gate.test.ts' },

  'listAuditEntries actor_id': async (_all, owner) => {
    await insertAuditLog(owner);
    return equals('actor_id', DEMO.users.admin);
  },
  'listAuditEntries actor_kind': async (_all, owner) => {
    await insertAuditLog(owner);
    return equals('actor_kind', 'system');
  },
  'listAuditEntries entity': async (_all, owner) => {
    await insertAuditLog(owner);
    return equals('entity', 'manifest');
  },
  'listPackageChanges package_id': {
    isNoFilter: 'required; another package has other changes: list-package-changes.test.ts',
  },
  'listManifestChanges manifest_id': {
    isNoFilter: 'required; another manifest has other changes: manifest-changes.test.ts',
  },
  'listAuditEntries entity_id': async (_all, owner) =>
    equals('entity_id', (await insertAuditLog(owner)).entityId),
  'listAuditEntries action': async (_all, owner) => {
    await insertAuditLog(owner);
    return equals('action', 'package.received');
  },
  'listAuditEntries request_id': async (_all, owner) =>
    equals('request_id', (await insertAuditLog(owner)).requestId),
  'listAuditEntries from': async (_all, owner) => {
    const { day } = await insertAuditLog(owner);
    return { value: day, matches: (record) => String(record['at']).slice(0, 10) >= day };
  },
  'listAuditEntries to': async (_all, owner) => {
    const { day } = await insertAuditLog(owner);
    return { value: day, matches: (record) => String(record['at']).slice(0, 10) <= day };
  },

  'listAuditEntries day_zone': DAY_ZONE,
  'listWebhookDeliveries day_zone': DAY_ZONE,
  'listPackages export': { isNoFilter: 'requests a file' },
  'listPackages export_format': { isNoFilter: 'selects the file format' },
  'listPackages action': { isNoFilter: 'starts an action' },
  'listPackages package_ids': { isNoFilter: 'lists the packages for queue_dispatch' },
  ...packageFilters('listPackages'),
  ...packageFilters('exportPackagesCsv'),
  ...packageFilters('exportPackagesXlsx'),
};

/** The filters of the exports of customers. */
function customerFilters(id: OperationId): Record<string, MakeFilter> {
  return {
    [`${id} search`]: () => contains('an', 'user_code', 'first_name', 'last_name'),
    [`${id} branch`]: () => equals('branch', 'Montego Bay'),
    [`${id} courier_id`]: async (_all, owner) => ({
      ...equals('courier_name', await nameOf(owner, 'couriers', DEMO.couriers.HRB)),
      value: DEMO.couriers.HRB,
    }),
  };
}

/** The filters that the list of packages and its exports share. */
function packageFilters(id: OperationId): Record<string, MakeFilter | NoFilter> {
  return {
    [`${id} day_zone`]: DAY_ZONE,
    [`${id} trackingNumber`]: (all) =>
      contains(middleValue(all, 'tracking_number').slice(2, 6), 'tracking_number'),
    [`${id} houseNumber`]: (all) => equals('house_number', middleValue(all, 'house_number')),
    [`${id} userCode`]: (all) =>
      equals('user_code', String(all.find((each) => each['user_code'] !== null)?.['user_code'])),
    [`${id} shipper`]: () => contains('ama', 'shipper'),
    [`${id} firstName`]: () => contains('an', 'first_name'),
    [`${id} lastName`]: () => contains('br', 'last_name'),
    [`${id} courierID`]: async (_all, owner) => ({
      ...equals('courier_name', await nameOf(owner, 'couriers', DEMO.couriers.HRB)),
      value: DEMO.couriers.HRB,
    }),
    [`${id} carrierID`]: async (all, owner) => {
      const { rows } = await owner.query<{ id: string; name: string }>(
        'select id, name from carriers where tenant_id = $1 and name = any($2) order by name limit 1',
        [DEMO.tenants.demo, all.map((record) => record['carrier_name'])],
      );
      return { ...equals('carrier_name', String(rows[0]?.name)), value: String(rows[0]?.id) };
    },
    [`${id} entryDateFloor`]: (all) => {
      const date = middleValue(all, 'entry_date_time').slice(0, 10);
      return { value: date, matches: (record) => String(record['entry_date_time']).slice(0, 10) >= date };
    },
    [`${id} entryDateCeiling`]: (all) => {
      const date = middleValue(all, 'entry_date_time').slice(0, 10);
      return { value: date, matches: (record) => String(record['entry_date_time']).slice(0, 10) <= date };
    },
    [`${id} status`]: () => ({ ...equals('status', 'shipped'), value: oneOrSeveral(id, 'shipped') }),
    [`${id} owner`]: () => ({ value: 'customer', matches: (record) => record['user_code'] !== null }),
    [`${id} manifest_id`]: async (_all, owner) => {
      const { rows } = await owner.query<{ manifest_number: string }>(
        'select manifest_number from manifests where id = $1',
        [DEMO.manifests.draft],
      );
      return { ...equals('manifest_number', String(rows[0]?.manifest_number)), value: DEMO.manifests.draft };
    },
    [`${id} on_manifest`]: () => ({ value: false, matches: (record) => record['manifest_number'] === null }),
    [`${id} q`]: (all) =>
      contains(middleValue(all, 'tracking_number').slice(2, 8), 'tracking_number', 'first_name', 'last_name'),
    [`${id} location`]: { isNoFilter: 'the record has no place: office-filters.test.ts' },
    [`${id} min_age_days`]: { isNoFilter: 'depends on the time: office-filters.test.ts' },
    [`${id} changed_since`]: { isNoFilter: 'the record has no time of the change: office-filters.test.ts' },
    [`${id} billed`]: { isNoFilter: 'the record has no bill: office-filters.test.ts' },
  };
}
