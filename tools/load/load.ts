import type pg from 'pg';
import { openPasswords } from '../../src/modules/auth/public.js';
import type { Secrets } from '../../src/platform/access/secrets.js';
import type { Db } from '../../src/platform/db/database.js';
import { insertRows, type Row } from '../../fixtures/demo/values/rows.js';
import { enterTenant } from '../../fixtures/demo/values/tenant-scope.js';
import { insertBills } from './billing.js';
import { feedOf } from './feed.js';
import { flightRows, planFlights } from './flights.js';
import { entryRows, historyOf } from './history.js';
import * as master from './master-rows.js';
import { dispatchRows, mailRows, sessionRows, syncRunRows, throttleRows } from './office.js';
import { planTraffic } from './parcels.js';
import { planTenant, type LoadOptions, type TenantPlan } from './tenant-plan.js';
import { packageEventRows, packageRow, prealertRow } from './traffic-rows.js';

export type LoadTools = {
  secrets: Secrets;
  /** Only makes the contexts of the service's own statements. */
  db: Db;
  password: string;
  passwordHashCost: number;
  hostSuffix: string;
  log: (line: string) => void;
};

/**
 * Fills a migrated database with tenants and their traffic, each tenant in one transaction. The same options give the same
 * rows, except secrets. A tenant that exists is left as it is. Returns the slugs of the added tenants.
 *
 * @param client connected as the owner of the schema, in no transaction
 */
export async function loadTraffic(
  client: pg.Client,
  options: LoadOptions,
  tools: LoadTools,
): Promise<string[]> {
  const passwordHash = await openPasswords(tools.passwordHashCost).hash(tools.password);
  const added: string[] = [];
  for (let index = 0; index < options.tenants; index += 1) {
    const plan = planTenant(options, index);
    if (await exists(client, plan)) {
      tools.log(`${plan.slug}: exists already, nothing was added`);
      continue;
    }
    await client.query('begin');
    try {
      await loadTenant(client, plan, { ...tools, passwordHash });
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
    added.push(plan.slug);
  }
  return added;
}

async function exists(client: pg.Client, { slug }: TenantPlan): Promise<boolean> {
  const { rowCount } = await client.query('select from tenants where slug = $1', [slug]);
  return rowCount === 1;
}

async function loadTenant(
  client: pg.Client,
  plan: TenantPlan,
  tools: LoadTools & { passwordHash: string },
): Promise<void> {
  const insert = (table: string, rows: Row[]) => insertBatches(client, table, rows);
  const carrierIds = await insertMaster(client, plan, tools);
  const flights = planFlights(plan);
  const traffic = planTraffic(plan, flights);
  const { parcels, prealerts } = traffic;
  tools.log(
    `${plan.slug}: ${parcels.length} packages, ${prealerts.length} pre-alerts, ${flights.length} manifests`,
  );
  await insert('manifests', flightRows(plan, flights));
  await insert(
    'prealerts',
    prealerts.map((prealert) => prealertRow(plan, prealert)),
  );
  await insert(
    'packages',
    parcels.map((parcel) => packageRow(plan, parcel, carrierIds)),
  );
  await insert(
    'package_events',
    parcels.flatMap((parcel) => packageEventRows(plan, parcel)),
  );
  tools.log(`${plan.slug}: packages stored; events and webhooks follow`);
  const feed = feedOf(plan, traffic);
  await insert('event_counters', feed.counters);
  await insert('events', feed.events);
  await insert('webhook_deliveries', feed.deliveries);
  await insert('webhook_attempts', feed.attempts);
  await insert('webhook_endpoints', feed.endpoints);
  const { dispatches, syncs } = dispatchRows(plan, traffic);
  await insert('dispatches', dispatches);
  await insert('package_syncs', syncs);
  await insert('manifest_mails', mailRows(plan, flights, traffic));
  await insert('customer_sync_runs', syncRunRows(plan));
  const { sessions, networks } = sessionRows(plan);
  await insert('sessions', sessions);
  await insert('known_networks', networks);
  await insert('login_throttles', throttleRows(plan));
  tools.log(`${plan.slug}: webhooks stored; bills and the audit log follow`);
  // The statistics do not know the rows of this transaction. Without them, each draft compares every package with every line.
  await client.query('analyze packages, manifests, customers, rate_tiers');
  await client.query('set local enable_seqscan = off');
  const billed = await insertBills(client, tools.db, plan);
  await client.query('set local enable_seqscan = on');
  await insert('audit_entries', entryRows(plan, [...historyOf(plan, flights, traffic), ...billed]));
}

async function insertMaster(
  client: pg.Client,
  plan: TenantPlan,
  tools: LoadTools & { passwordHash: string },
): Promise<string[]> {
  const { rowCount } = await client.query("select from tenant_hosts where host = '*'");
  const carrierIds = master.carrierIds(plan);
  await enterTenant(client, plan.id);
  const { slug, operator, openedMs } = plan;
  const tenant = { id: plan.id, slug, name: operator.name, created_at: new Date(openedMs).toISOString() };
  await insertRows(client, 'tenants', [tenant]);
  await insertRows(client, 'tenant_hosts', master.hostRows(plan, tools.hostSuffix, rowCount === 0));
  await insertRows(client, 'warehouses', master.warehouseRows(plan));
  await insertRows(client, 'carriers', master.carrierRows(plan, carrierIds));
  await insertRows(client, 'airlines', master.airlineRows(plan));
  await insertRows(client, 'couriers', master.courierRows(plan, tools));
  await insertRows(client, 'users', master.userRows(plan, tools));
  await insertRows(client, 'rate_tiers', master.tierRows(plan));
  await insertBatches(client, 'customers', master.customerRows(plan));
  return carrierIds;
}

const BATCH_ROWS = 5_000;

async function insertBatches(client: pg.Client, table: string, rows: Row[]): Promise<void> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS)
    await insertRows(client, table, rows.slice(start, start + BATCH_ROWS));
}
