import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import type { OperationId } from '../../../../src/platform/contract/types.js';
import { startService, type Call, type Service } from '../../../support/service/service.js';

// What requests make the database grow by, compared with what is counted (the table of decision 0131).

const LIMIT_MS = 120_000;
/** A process settles what it has granted after five seconds. */
const SETTLED_MS = 6_000;
/** What is counted may be less than what is written by this factor, because pages and indexes grow in steps. */
const AT_MOST = 1.5;

let service: Service;

beforeAll(async () => {
  service = await startService({ env: { WRITTEN_MIB_PER_DAY: '64' } });
});
afterAll(() => service.stop());

const number = () => `G${randomUUID().replaceAll('-', '').slice(0, 15)}`;
const prealert = (more: object = {}) => ({ UserCode: 'IEX-1001', TrackingNumber: number(), ...more });
const ofKey = (body: Call['body'], headers = {}): Call => ({ key: DEMO.apiKeys.IEX, body, headers });
const LINES = 500;

const KINDS: [what: string, requests: number, operation: OperationId, call: () => Call][] = [
  ['a pre-alert', 400, 'submitPrealert', () => ofKey(prealert())],
  [
    'a pre-alert with Idempotency-Key',
    400,
    'submitPrealert',
    () => ofKey(prealert(), { 'idempotency-key': randomUUID() }),
  ],
  [
    `a batch of ${LINES} pre-alerts`,
    4,
    'submitPrealert',
    () =>
      ofKey(Buffer.from(Array.from({ length: LINES }, () => JSON.stringify(prealert())).join('\n')), {
        'content-type': 'application/x-ndjson',
      }),
  ],
  [
    'a customer',
    400,
    'createCustomer',
    () => ({ as: 'iex', body: { user_code: number(), first_name: 'Ana', last_name: 'Castillo' } }),
  ],
  [
    'a receipt',
    400,
    'receivePackage',
    () => ({ as: 'warehouse', body: { tracking_number: number(), weight: 2.5, user_code: 'IEX-1001' } }),
  ],
];

/**
 * The bytes of all tables and indexes. Without what autovacuum adds meanwhile, once for each table: maps of free space and visibility,
 * and statistics.
 */
async function sizeOfDatabase(): Promise<number> {
  const { rows } = await service.owner.query<{ bytes: string }>(
    `select sum(pg_relation_size(oid, 'main')) as bytes from pg_class
     where relkind in ('r', 'i', 't') and relnamespace <> 'pg_catalog'::regnamespace`,
  );
  return Number(rows[0]?.bytes);
}

/** The bytes that were counted. An allowance as small as that of this service refills less than 1 KB per second. */
async function counted(): Promise<number> {
  await sleep(SETTLED_MS);
  const { rows } = await service.owner.query<{ bytes: string }>(
    "select coalesce(sum(used), 0) as bytes from write_allowances where principal_kind in ('courier', 'user')",
  );
  return Number(rows[0]?.bytes);
}

test.each(KINDS)(
  'what is counted for %s is about what it makes the database grow by',
  async (what, requests, operation, call) => {
    await service.owner.query('delete from write_allowances');
    const before = await sizeOfDatabase();
    for (let n = 0; n < requests; n += 1) {
      const { status } = await service.call(operation, call());
      expect([what, status < 300]).toEqual([what, true]);
    }
    const [grown, bytes] = [(await sizeOfDatabase()) - before, await counted()];
    process.stdout.write(
      `${what}: ${Math.round(grown / requests)} bytes written, ${Math.round(bytes / requests)} counted\n`,
    );
    expect(grown / bytes).toBeLessThan(AT_MOST);
  },
  LIMIT_MS,
);
