import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../src/development/demo/seed.js';
import { makeCouriers } from '../support/builders/couriers.js';
import { demoDatabase, type TestDatabase } from '../support/service/database.js';
import {
  inScopeOf,
  refusalOfCopy,
  tablesHolding,
  valuesOf,
  type Scope,
} from '../support/builders/row-security.js';

// Row-level security alone: plain SQL without a filter, in the service's role.

const { demo, two } = DEMO.tenants;
const { IEX, HRB } = DEMO.couriers;

const ofTenant: Scope = { tenantId: demo, courierId: 'all' };
const ofCourier: Scope = { tenantId: demo, courierId: IEX };

/** These must have rows of others, so that the tests can fail. */
const OF_COURIERS = [
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

describe('reading', () => {
  test('in a tenant’s scope every table shows the rows of that tenant only', async () => {
    const tables = await tablesHolding(owner, 'tenant_id', two);
    expect(tables).toEqual(expect.arrayContaining([...OF_COURIERS, 'couriers', 'manifests']));
    await inScopeOf(owner, ofTenant, async (client) => {
      for (const table of tables)
        for (const tenantId of await valuesOf(client, table, 'tenant_id'))
          expect({ table, tenantId }).toEqual({ table, tenantId: demo });
    });
  });

  test('in a courier’s scope every table shows the rows of that courier only', async () => {
    const tables = await tablesHolding(owner, 'courier_id', HRB);
    expect(tables).toEqual(expect.arrayContaining(OF_COURIERS));
    await inScopeOf(owner, ofCourier, async (client) => {
      for (const table of tables) {
        const others = (await valuesOf(client, table, 'courier_id')).filter((id) => id !== IEX);
        // the tenant's default rates apply to every courier
        expect({ table, others }).toEqual({ table, others: table === 'rate_tiers' ? [null] : [] });
      }
    });
  });

  test('in a courier’s scope the only manifests are those that carry its packages', async () => {
    const carrying = await manifestsWhere('exists');
    const hidden = await manifestsWhere('not exists');
    expect([carrying.length > 0, hidden.length > 0]).toEqual([true, true]);
    const { rows } = await inScopeOf(owner, ofCourier, (client) =>
      client.query('select id from manifests order by id'),
    );
    expect(rows).toEqual(carrying);
  });

  /** The manifests of the tenant that carry packages of the courier, or that carry none. */
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
describe('writing', () => {
  const refusals = (table: string) => [
    `new row violates row-level security policy for table "${table}"`,
    `permission denied for table ${table}`,
  ];

  test('in a tenant’s scope every table refuses a row of another tenant by its policy or its grants', async () => {
    for (const table of await tablesHolding(owner, 'tenant_id', two)) {
      const refusal = await refusalOfCopy(owner, ofTenant, { table, column: 'tenant_id', value: two });
      expect(refusals(table)).toContain(refusal);
    }
  });

  test('in a courier’s scope every table refuses a row of another courier by its policy or its grants', async () => {
    for (const table of await tablesHolding(owner, 'courier_id', HRB)) {
      const refusal = await refusalOfCopy(owner, ofCourier, { table, column: 'courier_id', value: HRB });
      expect(refusals(table)).toContain(refusal);
    }
  });
});
