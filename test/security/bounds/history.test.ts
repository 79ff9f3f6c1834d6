import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { HELD_MS } from '../../../generated/bounds.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { makeCouriers, type Belongings } from '../../support/builders/couriers.js';
import { mostPrivilegedCaller } from '../../support/builders/inputs.js';
import { rounds } from '../../support/harness/effort.js';
import { longestBlockMs } from '../../support/harness/event-loop-block.js';
import { startService, type Service } from '../../support/service/service.js';
import { CALLS } from '../authorization/calls.js';
import { rows as matrixRows } from '../authorization/matrix.js';

/** Rows of history of one package, parcel, bill, courier and user, in each table. */
const HISTORY = rounds(10_000, 100_000);
const FILL_MS = 600_000;
/** Twice the bound: the test checks the response in the same event loop. */
const MAX_HELD_MS = 2 * HELD_MS;
/** For a loaded machine. A statement that reads all of 100,000 rows and a response of them take longer. */
const MAX_MS = 3_000;

/** These end the sessions of their callers, or lock users out. They have no history but sessions, which listSessions reads. */
const LEFT_OUT = new Set<OperationId>([
  'manageSessions',
  'updateSecuritySettings',
  'manageTwoFactor',
  'changePassword',
]);

let service: Service;
let iex: Belongings;

beforeAll(async () => {
  service = await startService();
  iex = (await makeCouriers(service.owner)).IEX;
  await service.tokenOf('admin');
  for (const [table, source, changes] of historyOf(iex)) await multiply(table, source, changes);
  await service.owner.query('analyze');
}, FILL_MS);

afterAll(async () => {
  await service.stop();
});

/** Of tables whose rows of one object are limited. The bill has payments already. A package can have 1,000 events; before, it could have more. */
const MOST: Record<string, number> = { bill_payments: 990, package_events: 10_000 };
const mostOf = (table = '') => Math.min(HISTORY, MOST[table] ?? HISTORY);

/** The tables of history: a condition that finds a row of the object, and what differs between its copies `n`. */
const historyOf = ({ packageId, courierId, billId, userId }: Belongings): [string, string, string][] => [
  ['package_events', `package_id = '${packageId}'`, `'place', 1000000 + n`],
  [
    'events',
    `courier_id = '${courierId}' and sequence is not null`,
    `'sequence', 1000000 + n, 'package_id', '${packageId}'`,
  ],
  ['webhook_deliveries', `courier_id = '${courierId}' and status = 'failed'`, `'sync_job_id', null`],
  ['bill_payments', `bill_id = '${billId}'`, `'amount_usd', 0.01, 'voided_at', now(), 'void_reason', 'x'`],
  ['audit_entries', 'true', `'entity', 'package', 'entity_id', '${packageId}'`],
  ['sessions', `user_id = '${DEMO.users.admin}'`, `'created_at', now() - n * interval '1 second'`],
  ['sessions', 'true', `'user_id', '${userId}', 'created_at', now() - n * interval '1 second'`],
  ['dispatches', `courier_id = '${courierId}'`, `'selected', n`],
  ['customer_sync_runs', `courier_id = '${courierId}'`, `'status', 'failed'`],
  ['api_calls', `courier_id = '${courierId}'`, `'request_id', new_id()`],
  ['integration_checks', `courier_id = '${courierId}'`, `'status', 'failed', 'finished_at', now()`],
  ['scans', 'true', `'parcel_key', (select tracking_key from packages where id = '${packageId}')`],
];

/** Inserts copies of a row, if there is one. */
async function multiply(table: string, source: string, changes: string): Promise<void> {
  const client = await service.owner.connect();
  try {
    await client.query('set session_replication_role = replica');
    const { rowCount } = await client.query(
      `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(s) || jsonb_build_object('id', new_id(), ${changes}))).*
       from (select * from ${table} where tenant_id = $1 and ${source} limit 1) s, generate_series(1, $2::int) n`,
      [DEMO.tenants.demo, mostOf(table)],
    );
    filled.set(`${table} ${changes}`, rowCount ?? 0);
  } finally {
    client.release(true);
  }
}

const filled = new Map<string, number>();

test('the objects have their history', () => {
  const empty = [...filled]
    .filter(([name, count]) => count < mostOf(name.split(' ')[0]))
    .map(([table]) => table);
  // No demo scan and no run of a synchronisation or of a check exists; scans of a parcel have a bound of their own and tests in modules/scans.
  expect(empty.filter((table) => !/^(scans|customer_sync_runs|integration_checks) /.test(table))).toEqual([]);
});

const cases = matrixRows.filter(({ operation }) => !LEFT_OUT.has(operation));

test.each(cases.map(({ title, operation }) => [title, operation] as const))(
  `%s, on objects with ${HISTORY} rows of history, neither holds the event loop nor takes long`,
  async (title, operation) => {
    let [held, ms] = [Infinity, Infinity];
    for (let tries = 0; tries < 3 && (held > MAX_HELD_MS || ms > MAX_MS); tries += 1) {
      const call = { ...(await CALLS[title](iex, iex, service)), ...mostPrivilegedCaller(operation) };
      const startedMs = performance.now();
      held = await longestBlockMs(async () => {
        expect((await service.call(operation, call)).status).toBeLessThan(500);
      });
      ms = performance.now() - startedMs;
    }
    expect([held > MAX_HELD_MS ? held : 0, ms > MAX_MS ? ms : 0]).toEqual([0, 0]);
  },
  60_000,
);
