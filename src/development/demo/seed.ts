import type pg from 'pg';
import { PASSWORD_HASH_COST } from '../../config/settings.js';
import { openPasswords } from '../../modules/auth/credentials/passwords.js';
import type { Secrets } from '../../platform/access/secrets.js';
import { insertBills } from './bills.js';
import { courierRow } from './couriers.js';
import { customerRows } from './customers.js';
import { DEMO } from './demo.js';
import { eventRows } from './events.js';
import type { TenantSlug } from './values/ids.js';
import { demoIntakes, intakesOfTwo } from './intakes.js';
import { logoRow } from './logo.js';
import { manifestRows } from './manifests.js';
import { packageRow } from './packages.js';
import { demoPrealertRows, prealertRowsOfTwo } from './prealerts.js';
import { airlineRows, carrierRows, tenantRow, warehouseRows } from './reference-rows.js';
import { insertRows } from './values/rows.js';
import { enterTenant } from './values/tenant-scope.js';
import { globalTierRows, iexTierRows } from './tiers.js';
import { backupCodeRows, userRows, userRowsOfTwo } from './users.js';

export { DEMO, DEMO_BACKUP_CODES } from './demo.js';

// An arbitrary key, the same in every replica.
const SEED_LOCK = 7_203_115;

/**
 * Loads the demo tenants in one transaction if the database has no tenant. Returns whether it did. Replicas may call it
 * concurrently: one loads while the others wait.
 *
 * @param client connected as the schema's owner, in no transaction
 * @param now determines only the dates: every intake is in the 60 days before
 */
export async function seedDemo(client: pg.ClientBase, secrets: Secrets, now: Date): Promise<boolean> {
  // Read committed, so that a replica that waited for the lock sees the rows of the first one.
  await client.query('begin isolation level read committed');
  try {
    const isEmpty = await lockEmptyDatabase(client);
    if (isEmpty) await loadTenants(client, secrets, now);
    await client.query('commit');
    return isEmpty;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

async function lockEmptyDatabase(client: pg.ClientBase): Promise<boolean> {
  await client.query('select pg_advisory_xact_lock($1)', [SEED_LOCK]);
  const tenants = await client.query('select 1 from tenants limit 1');
  return tenants.rowCount === 0;
}

async function loadTenants(client: pg.ClientBase, secrets: Secrets, now: Date): Promise<void> {
  const enrolment = {
    passwordHash: await openPasswords(PASSWORD_HASH_COST).hash(DEMO.password),
    secrets,
    now,
  };
  await loadDemo(client, enrolment);
  await loadTwo(client, enrolment);
}

type Enrolment = Parameters<typeof userRows>[0];

async function loadDemo(client: pg.ClientBase, enrolment: Enrolment): Promise<void> {
  const { secrets, now } = enrolment;
  const packages = demoIntakes().map((intake) => packageRow(intake, now));
  await openTenant(client, 'demo', now);
  await insertRows(client, 'couriers', [
    courierRow('demo', 'IEX', secrets, now),
    courierRow('demo', 'HRB', secrets, now),
  ]);
  await insertRows(client, 'courier_logos', [logoRow(now)]);
  await insertRows(client, 'users', userRows(enrolment));
  await insertRows(client, 'backup_codes', backupCodeRows(secrets));
  await insertRows(client, 'rate_tiers', [...globalTierRows('demo'), ...iexTierRows()]);
  await insertRows(client, 'customers', [...customerRows('IEX', now), ...customerRows('HRB', now)]);
  await insertRows(client, 'manifests', manifestRows(now));
  await insertRows(client, 'prealerts', demoPrealertRows(packages, now));
  await insertRows(client, 'packages', packages);
  await insertRows(client, 'package_events', eventRows(packages, DEMO.users.warehouse));
  await insertBills(client, packages, now);
}

async function loadTwo(client: pg.ClientBase, enrolment: Enrolment): Promise<void> {
  const { secrets, now } = enrolment;
  const packages = intakesOfTwo().map((intake) => packageRow(intake, now));
  await openTenant(client, 'two', now);
  await insertRows(client, 'couriers', [courierRow('two', 'TWO', secrets, now)]);
  await insertRows(client, 'users', userRowsOfTwo(enrolment));
  await insertRows(client, 'rate_tiers', globalTierRows('two'));
  await insertRows(client, 'customers', customerRows('TWO', now));
  await insertRows(client, 'prealerts', prealertRowsOfTwo(packages, now));
  await insertRows(client, 'packages', packages);
  await insertRows(client, 'package_events', eventRows(packages, DEMO.usersOfTwo.admin));
}

/** Registers a tenant with its host and enters its scope. */
async function openTenant(client: pg.ClientBase, tenant: TenantSlug, now: Date): Promise<void> {
  const id = DEMO.tenants[tenant];
  await enterTenant(client, id);
  await insertRows(client, 'tenants', [tenantRow(tenant, now)]);
  await insertRows(client, 'tenant_hosts', [{ tenant_id: id, host: DEMO.hosts[tenant] }]);
  await insertRows(client, 'warehouses', warehouseRows(tenant, now));
  await insertRows(client, 'carriers', carrierRows(tenant));
  await insertRows(client, 'airlines', airlineRows(tenant));
}
