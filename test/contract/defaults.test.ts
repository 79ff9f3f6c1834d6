import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import type { Schema } from '../../src/platform/contract/bundle.js';
import { DEMO } from '../../fixtures/demo/demo.js';
import { NDJSON } from '../../src/platform/contract/types.js';
import { operationOf } from '../support/service/contract.js';
import { lastYear } from '../support/builders/bills.js';
import { readExportedPackages } from '../support/readers/exported-packages.js';
import { fingerprint } from '../support/readers/fingerprint.js';
import { inputs, type Input } from '../support/builders/inputs.js';
import { insertCouriers, insertLocations, insertManifests } from '../support/builders/register.js';
import { startService, type Call, type Reply, type Service } from '../support/service/service.js';

let shared: Service;

beforeAll(async () => {
  shared = await startService();
  await insertCouriers(shared.owner);
  await insertManifests(shared.owner);
  await insertLocations(shared.owner);
  const token = {
    ...{ action: 'create', name: 'active', scopes: ['packages:read'] },
    current_password: DEMO.password,
  };
  for (const owner of [{}, { courier_id: DEMO.couriers.IEX }])
    await shared.call('manageServiceTokens', { as: 'admin', body: { ...token, ...owner } });
});

afterAll(async () => {
  await shared.stop();
});

const defaulted = inputs.filter(({ schema }) => 'default' in schema);

test('the contract declares defaults', () => {
  expect(defaulted.length).toBeGreaterThan(4);
});

test.each(defaulted.map((input) => [title(input), input] as const))(
  '%s',
  async (_title, input) => {
    const defaultValue = input.schema['default'];
    const omitted = await effectOf(input, undefined);
    expect(omitted.status).toBeLessThan(300);
    const sentDefault = effectOf(input, defaultValue);
    // Writes have services of their own, so they run in parallel.
    if (!writes.has(input)) await sentDefault;
    const other = effectOf(input, otherThan(defaultValue, input.schema));
    const [same, different] = await Promise.all([sentDefault, other]);
    expect(omitted).toEqual(same);
    expect(omitted).not.toEqual(different);
  },
  60_000,
);

function title({ field, owner, schema }: Input): string {
  return `${field} of ${owner}: omitting it has the same effect as sending ${JSON.stringify(schema['default'])}, and another value differs`;
}

type Effect = { status: number; reply: string; rows: unknown };

const writes = new Set<Input>();

/** Parameters to send along when the parameter under test has no effect alone. */
const EXTRA_PARAMS: Record<string, Record<string, string | boolean>> = {
  'listPackages export_format': { export: true },
  // More packages than one customer has.
  'listPackages sort_by': { userCode: '' },
  // enough matches for the limit to have an effect, and a misspelt name
  'searchCustomers limit': { q: 'an' },
  'listEvents after': { courier_id: DEMO.couriers.IEX },
  'listEvents limit': { courier_id: DEMO.couriers.IEX },
  // The demo packages date from the weeks before today.
  'manageCourierBills create_draft tax_rate': { start_date: '2020-01-01', end_date: '2100-01-01' },
  'getCourierStatement page': { courier_id: DEMO.couriers.IEX, ...lastYear() },
  'getCourierStatement limit': { courier_id: DEMO.couriers.IEX, ...lastYear() },
  'searchCustomers advanced': { q: 'Marsia Cambel' },
};

/** Bodies to send instead of the contract's example, on which the parameter has no effect. */
const LINES = {
  body: '{"UserCode":"IEX-1001","TrackingNumber":"LINE"}\n{}',
  headers: { 'content-type': NDJSON },
};
const OTHER_BODIES: Record<string, Pick<Call, 'body' | 'headers'>> = {
  'submitPrealert atomic': LINES,
  'submitPrealertWithoutSuffix atomic': LINES,
};

function callOf(input: Input, value: unknown): Call {
  const call = { ...input.callWith(value), ...OTHER_BODIES[`${input.owner} ${input.field}`] };
  const extraParams = EXTRA_PARAMS[`${input.owner} ${input.field}`];
  if (!extraParams) return call;
  if (operationOf(input.id).method === 'GET') return { ...call, query: { ...call.query, ...extraParams } };
  // Inputs in this table have object bodies.
  return { ...call, body: { ...(call.body as object), ...extraParams } };
}

/** Returns a call's response and the rows that it creates, without values that differ each time. */
async function effectOf(input: Input, value: unknown): Promise<Effect> {
  if (!writes.has(input)) {
    const before = await fingerprint(shared.owner);
    const reply = await shared.call(input.id, callOf(input, value));
    const isRead = JSON.stringify(await fingerprint(shared.owner)) === JSON.stringify(before);
    if (isRead) return { ...masked(reply), rows: 'none changed' };
    writes.add(input);
  }
  // A fresh service, so that each call finds the same data.
  const fresh = await startService();
  try {
    const { rows } = await fresh.owner.query<{ now: Date }>('select now()');
    const again = await fresh.call(input.id, callOf(input, value));
    return { ...masked(again), rows: await rowsSince(fresh.owner, rows[0]?.now) };
  } finally {
    await fresh.stop();
  }
}

const masked = (reply: Reply) => ({
  status: reply.status,
  reply: maskVolatile(JSON.stringify(contentOf(reply))),
});

/** A spreadsheet contains the time at which it was made, so only its records are compared. */
const contentOf = ({ headers, body, bytes }: Reply) =>
  headers.get('content-type')?.includes('spreadsheet') ? readExportedPackages(bytes) : body;

/** Masks ids, times and random numbers, which always differ. */
const maskVolatile = (text: string) =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, '<id>')
    .replace(/\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(\+\d\d:\d\d)?/g, '<time>')
    .replace(/"timestamp":\d+/g, '"timestamp":0')
    .replace(/MAN-\d{8}-\w{4}/g, '<manifest>')
    .replace(/DRAFT-\w{8}/g, '<draft>')
    .replace(/"house_number":"\w+"/g, '"house_number":"<house>"');

async function rowsSince(owner: pg.Pool, began: Date | undefined): Promise<unknown> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'created_at' order by 1`,
  );
  const found: Record<string, string[]> = {};
  for (const { name } of tables) {
    const { rows } = await owner.query<{ row: unknown }>(
      `select to_jsonb(r) as row from "${name}" r where r.created_at >= $1`,
      [began],
    );
    found[name] = rows.map(({ row }) => maskVolatile(JSON.stringify(row))).sort();
  }
  return found;
}

function otherThan(value: unknown, schema: Schema): unknown {
  const values = schema['enum'] as unknown[] | undefined;
  if (values) return values.find((each) => each !== value);
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'number') return `${String(value)}x`;
  return value === schema['maximum'] ? value - 1 : value + 1;
}
