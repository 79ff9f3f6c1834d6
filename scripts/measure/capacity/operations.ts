import { audit } from '../../../src/platform/audit/audit.js';
import { randomUUID } from 'node:crypto';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import type { Config } from '../../../src/config/config.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { deleteExpired } from '../../../src/jobs/retention.js';
import { appendAllToChains } from '../../../src/modules/audit-log/append-to-chain.js';
import { pageOfEntries, type AuditQuery } from '../../../src/modules/audit-log/queries.js';
import { findHistory } from '../../../src/modules/packages/events/history-queries.js';
import { executeBatch } from '../../../src/modules/scans/batch/execute-batch.js';
import { resolveScan } from '../../../src/modules/scans/resolve-scan.js';
import { insertReceivedPackage } from '../../../src/modules/packages/intake/queries.js';
import { listPackages, totalPackages } from '../../../src/modules/packages/list/queries.js';
import { batchOf, insertEvents } from '../../../src/modules/webhooks/events/event-queries.js';
import { readFeed } from '../../../src/modules/webhooks/events/feed.js';
import { pageOfDeliveries } from '../../../src/modules/webhooks/log/queries.js';
import { makeContext, type UserContext } from '../../../src/platform/context/request-context.js';
import { newId } from '../../../src/platform/values/ids.js';
import { adminOf } from '../bench/measure.js';
import { RARE } from './load.js';
import type { MeasuredDb } from './measure.js';

/** Something that the service does at every size of the tables. */
export type Operation = {
  name: string;
  /** False for a job that finds nothing to do when it is repeated. */
  isRepeatable: boolean;
  /** Runs `times` requests, or the whole job. Returns the number of requests or rows. */
  run(times: number): Promise<number>;
};

const TENANT = DEMO.tenants.demo;
const COURIER = DEMO.couriers.IEX;

/** Returns the operations on the growing tables in order: writes, the append to the chain, pages, retention. */
export async function planOperations(measured: MeasuredDb, config: Config): Promise<Operation[]> {
  const caller = await adminOf({ id: TENANT }, measured.ownerUrl);
  const openContext = () => makeContext(measured.db, caller, newId());
  const targets = await findTargets(measured);
  return [
    ...writesOf(openContext, targets),
    ...scansOf(openContext, targets),
    appendOf(measured, config),
    ...pagesOf(openContext, targets),
    retentionOf(measured),
  ];
}

/** Rows to which the operations refer. */
type Targets = {
  packageId: string;
  trackingNumber: string;
  warehouseId: string;
  entryId: string;
  requestId: string;
  deliveryId: string;
  sequence: string;
};

/** Selects old rows, which exist at every size, and a package with its four events. */
async function findTargets({ owner }: MeasuredDb): Promise<Targets> {
  const since = `now() - interval '19 days'`;
  const { rows } = await owner.query<Targets>(
    `select p.package_id as "packageId", n.tracking_number as "trackingNumber", w.id as "warehouseId", a.id as "entryId", a.request_id as "requestId",
       d.id as "deliveryId", e.sequence::text as sequence
     from warehouses w,
       lateral (select package_id from package_events
         where tenant_id = $1 and occurred_at > ${since} and status = 'delivered' and place > 1000000 limit 1) p,
       lateral (select tracking_number from packages where tenant_id = $1 and id = p.package_id) n,
       lateral (select id, request_id from audit_entries where tenant_id = $1 and at > ${since} order by at limit 1) a,
       lateral (select id from webhook_deliveries
         where tenant_id = $1 and created_at > ${since} order by created_at limit 1) d,
       lateral (select sequence from events
         where tenant_id = $1 and occurred_at > ${since} and courier_id = $2 order by occurred_at limit 1) e
     where w.tenant_id = $1 and w.is_primary`,
    [TENANT, COURIER],
  );
  const [targets] = rows;
  if (!targets) throw new Error('The loaded rows are missing.');
  return targets;
}

type OpenContext = () => UserContext;

/** Repeats a request one after the other. */
const request = (name: string, run: () => Promise<unknown>): Operation => ({
  name,
  isRepeatable: true,
  async run(times) {
    for (let n = 0; n < times; n += 1) await run();
    return times;
  },
});

/** Statements of the service, each in a transaction of its own with the check of the caller's account. */
function writesOf(openContext: OpenContext, { packageId, warehouseId }: Targets): Operation[] {
  return [
    request('insert an audit entry', () => {
      const ctx = openContext();
      const after = {
        user_code: 'IEX-1001',
        tracking_number: newId(),
        vendor: 'Vendor 1',
        status: 'pending',
      };
      const fact = { action: 'prealert.created', entity: 'prealert', entityId: newId(), after } as const;
      return ctx.write([audit(ctx, fact)]);
    }),
    request('insert a package and its first event', () => {
      const ctx = openContext();
      return ctx.write([insertReceivedPackage(ctx, newPackage(warehouseId), newId())]);
    }),
    request('insert an event and its delivery', () => {
      const ctx = openContext();
      const event = {
        id: newId(),
        courier_id: COURIER,
        type: 'package.created',
        endpoint: 'add_package',
      } as const;
      const data = { package_id: packageId, status: 'received', shipper: 'Vendor 1' };
      return ctx.write([
        insertEvents(
          ctx,
          batchOf([{ ...event, package_id: packageId, data, sync_job_id: null, traceparent: undefined }]),
          [],
        ),
      ]);
    }),
  ];
}

/** A parcel is looked up, and received by a scan: what a station waits for. */
function scansOf(openContext: OpenContext, { trackingNumber }: Targets): Operation[] {
  return [
    request('resolve a scan', () => resolveScan(openContext(), trackingNumber)),
    request('receive by scan', () => {
      const scan = newId().replaceAll('-', '').toUpperCase().slice(8);
      const scanned_at = new Date().toISOString().slice(0, 19).replace('T', ' ');
      const value = { scan_id: randomUUID(), scanned_at, kind: 'receive', scan, weight: 3.25 } as const;
      const scans = [{ value: { ...value, user_code: 'IEX-1001' } }];
      return executeBatch(openContext(), { station: 'Dock 1', scans }, () => Promise.resolve());
    }),
  ];
}

function newPackage(warehouseId: string): Parameters<typeof insertReceivedPackage>[1] {
  const number = newId().replaceAll('-', '').toUpperCase().slice(8);
  return {
    ...{ id: newId(), courier_id: COURIER, user_code: 'IEX-1001', first_name: 'Ann', last_name: 'Lee' },
    ...{ tracking_number: number, tracking_key: number, house_number: `H${number}` },
    ...{ weight_lb: '3.250', length_in: null, width_in: null, height_in: null },
    ...{ package_type: null, shipper: 'Vendor 1', description: null, carrier_id: null, prealert_id: null },
    warehouse_id: warehouseId,
  };
}

/** Appends what the inserts have added. */
const appendOf = ({ db, owner }: MeasuredDb, config: Config): Operation => ({
  name: 'append an audit entry to the chain',
  isRepeatable: false,
  async run() {
    const { rows } = await owner.query<{ count: number }>(
      'select count(*)::int as count from audit_unsealed',
    );
    await appendAllToChains({ db, secrets: openSecrets(config.secrets), stopping: NEVER });
    return rows[0]?.count ?? 0;
  },
});

const LIMIT = 50;

function pagesOf(openContext: OpenContext, targets: Targets): Operation[] {
  const { packageId, entryId, requestId, deliveryId, sequence } = targets;
  const audit = (name: string, query: Partial<AuditQuery>) =>
    request(`page of the audit log, ${name}`, () => {
      const ctx = openContext();
      return ctx.read([pageOfEntries(ctx, { limit: LIMIT, ...query })]);
    });
  const packages = (name: string, filters: { userCode?: string }) =>
    request(`page of packages, ${name}`, () => {
      const ctx = openContext();
      return ctx.read([listPackages(ctx, filters, { page: 1, limit: LIMIT }), totalPackages(ctx, filters)]);
    });
  return [
    audit('newest', {}),
    audit('old', { before: entryId }),
    audit('rare actor', { actor_kind: RARE.actorKind }),
    audit('one request', { request_id: requestId }),
    packages('newest', {}),
    packages('rare customer', { userCode: RARE.userCode }),
    request('history of a package', () => {
      const ctx = openContext();
      return ctx.read([findHistory(ctx, packageId)]);
    }),
    request('page of the event feed', () =>
      readFeed(openContext(), { courier_id: COURIER, after: Number(sequence), limit: LIMIT }),
    ),
    ...['newest', 'old'].map((name) =>
      request(`page of webhook deliveries, ${name}`, () => {
        const ctx = openContext();
        return ctx.read([
          pageOfDeliveries(ctx, { limit: LIMIT, ...(name === 'old' ? { before: deliveryId } : {}) }),
        ]);
      }),
    ),
  ];
}

/** The hourly job: the expired deliveries with their attempts, then the expired events. Counts both; no other rows are expired. */
const retentionOf = ({ db, owner }: MeasuredDb): Operation => ({
  name: 'delete an expired event or delivery',
  isRepeatable: false,
  async run() {
    const before = await countExpired(owner);
    await deleteExpired({ db, stopping: NEVER });
    if ((await countExpired(owner)) > 0) throw new Error('Expired rows are left.');
    return before;
  },
});

async function countExpired(owner: MeasuredDb['owner']): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    `select (select count(*) from events where occurred_at < now() - interval '90 days')::int
       + (select count(*) from webhook_deliveries where created_at < now() - interval '30 days')::int as count`,
  );
  return rows[0]?.count ?? 0;
}

/** The jobs of a script are not interrupted. */
const NEVER = new AbortController().signal;
