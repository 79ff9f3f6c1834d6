import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../fixtures/demo/seed.js';
import { makeCouriers } from '../support/builders/couriers.js';
import { demoDatabase, type TestDatabase } from '../support/service/database.js';
import {
  withServiceScope,
  refusalOfCopy,
  tablesHolding,
  valuesOf,
  type Scope,
} from '../support/builders/row-security.js';

// Tests row-level security alone: plain SQL without filters, with the service's role.

const { demo, two } = DEMO.tenants;
const { IEX, HRB } = DEMO.couriers;

const ofTenant: Scope = { tenantId: demo, courierId: 'all' };
const ofCourier: Scope = { tenantId: demo, courierId: IEX };

/** Tables that contain rows of other couriers; without them the tests could not fail. */
const COURIER_TABLES = [
  ...['bills', 'bill_lines', 'customers', 'events', 'idempotency_keys', 'package_events', 'packages'],
  ...['prealerts', 'rate_tiers', 'users', 'webhook_deliveries'],
];

let database: TestDatabase;
let owner: pg.Pool;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  await makeCouriers(owner);
  await owner.query(
    `insert into idempotency_keys (tenant_id, id, courier_id, principal_kind, principal_id, key_hash, request_hash,
       operation_id, answer_cipher)
     select tenant_id, gen_random_uuid(), id, 'courier', id, 'k', 'r', 'submitPrealert', '-' from couriers`,
  );
});
afterAll(async () => {
  await owner.end();
  await database.drop();
});

describe('reads', () => {
  test("in a tenant's scope every table shows only rows of that tenant", async () => {
    const tables = await tablesHolding(owner, 'tenant_id', two);
    expect(tables).toEqual(expect.arrayContaining([...COURIER_TABLES, 'couriers', 'manifests']));
    await withServiceScope(owner, ofTenant, async (client) => {
      for (const table of tables)
        for (const tenantId of await valuesOf(client, table, 'tenant_id'))
          expect({ table, tenantId }).toEqual({ table, tenantId: demo });
    });
  });

  test("in a courier's scope every table shows only rows of that courier", async () => {
    const tables = await tablesHolding(owner, 'courier_id', HRB);
    expect(tables).toEqual(expect.arrayContaining(COURIER_TABLES));
    await withServiceScope(owner, ofCourier, async (client) => {
      for (const table of tables) {
        const others = (await valuesOf(client, table, 'courier_id')).filter((id) => id !== IEX);
        // The tenant's default rates apply to every courier.
        expect({ table, others }).toEqual({ table, others: table === 'rate_tiers' ? [null] : [] });
      }
    });
  });

  test("in a courier's scope only manifests with its packages are visible", async () => {
    const carrying = await manifestsWhere('exists');
    const hidden = await manifestsWhere('not exists');
    expect([carrying.length > 0, hidden.length > 0]).toEqual([true, true]);
    const { rows } = await withServiceScope(owner, ofCourier, (client) =>
      client.query('select id from manifests order by id'),
    );
    expect(rows).toEqual(carrying);
  });

  /** Returns the tenant's manifests with packages of the courier, or those without. */
  async function manifestsWhere(condition: 'exists' | 'not exists'): Promise<unknown[]> {
    const { rows } = await owner.query(
      `select id from manifests m where tenant_id = $1 and ${condition} (
         select from packages p where p.manifest_id = m.id and p.courier_id = $2) order by id`,
      [demo, IEX],
    );
    return rows;
  }
});

// PostgreSQL checks the policies before it checks keys, constraints and triggers that run after the statement.
describe('writes', () => {
  const refusals = (table: string) => [
    `new row violates row-level security policy for table "${table}"`,
    `permission denied for table ${table}`,
  ];

  test("in a tenant's scope the policy or the grants of every table reject a row of another tenant", async () => {
    for (const table of await tablesHolding(owner, 'tenant_id', two)) {
      const refusal = await refusalOfCopy(owner, ofTenant, { table, column: 'tenant_id', value: two });
      expect(refusals(table)).toContain(refusal);
    }
  });

  test("in a courier's scope the policy or the grants of every table reject a row of another courier", async () => {
    for (const table of await tablesHolding(owner, 'courier_id', HRB)) {
      const refusal = await refusalOfCopy(owner, ofCourier, { table, column: 'courier_id', value: HRB });
      expect(refusals(table)).toContain(refusal);
    }
  });
});
