import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import type { Schema } from '../../src/platform/contract/bundle.js';
import { DEMO } from '../../src/development/demo/demo.js';
import { operationOf } from '../support/service/contract.js';
import { lastYear } from '../support/builders/bills.js';
import { fingerprint } from '../support/readers/fingerprint.js';
import { inputs, type Input } from '../support/builders/inputs.js';
import { plantCouriers } from '../support/builders/register.js';
import { startService, type Call, type Reply, type Service } from '../support/service/service.js';

let shared: Service;

beforeAll(async () => {
  shared = await startService();
  await plantCouriers(shared.owner);
});

afterAll(async () => {
  await shared.stop();
});

const defaulted = inputs.filter(({ schema }) => 'default' in schema);

test('there are defaults', () => {
  expect(defaulted.length).toBeGreaterThan(4);
});

test.each(defaulted.map((input) => [title(input), input] as const))(
  '%s',
  async (_title, input) => {
    const given = input.schema['default'];
    const [left, sent, other] = [
      await effectOf(input, undefined),
      await effectOf(input, given),
      await effectOf(input, otherThan(given, input.schema)),
    ];
    expect(left.status).toBeLessThan(300);
    expect(left).toEqual(sent);
    expect(left).not.toEqual(other);
  },
  60_000,
);

function title({ field, owner, schema }: Input): string {
  return `${field} of ${owner}: left out, it is ${JSON.stringify(schema['default'])}, and nothing else`;
}

type Effect = { status: number; reply: string; rows: unknown };

const writes = new Set<Input>();

/** What a default is for, where it means nothing alone. */
const BESIDE: Record<string, Record<string, string | boolean>> = {
  'retrievePackages export_format': { export: true },
  // enough hits for the limit to show, and a misspelt name
  'searchCustomers limit': { q: 'an' },
  'readEvents after': { courier_id: DEMO.couriers.IEX },
  'readEvents limit': { courier_id: DEMO.couriers.IEX },
  // the demo's packages are of the weeks before today
  'manageCourierBills create_draft tax_rate': { start_date: '2020-01-01', end_date: '2100-01-01' },
  'courierStatement page': { courier_id: DEMO.couriers.IEX, ...lastYear() },
  'courierStatement limit': { courier_id: DEMO.couriers.IEX, ...lastYear() },
  'searchCustomers advanced': { q: 'Marsia Cambel' },
};

function callOf(input: Input, value: unknown): Call {
  const call = input.callWith(value);
  const beside = BESIDE[`${input.owner} ${input.field}`];
  if (!beside) return call;
  if (operationOf(input.id).method === 'GET') return { ...call, query: { ...call.query, ...beside } };
  // as: bodies that stand in the table are objects
  return { ...call, body: { ...(call.body as object), ...beside } };
}

/** What a call answers and what it leaves in the database, without what differs each time. */
async function effectOf(input: Input, value: unknown): Promise<Effect> {
  if (!writes.has(input)) {
    const before = await fingerprint(shared.owner);
    const reply = await shared.call(input.id, callOf(input, value));
    const isRead = JSON.stringify(await fingerprint(shared.owner)) === JSON.stringify(before);
    if (isRead) return { ...plain(reply), rows: 'none changed' };
    writes.add(input);
  }
  // the next call must find what this one found
  const fresh = await startService();
  try {
    const { rows } = await fresh.owner.query<{ now: Date }>('select now()');
    const again = await fresh.call(input.id, callOf(input, value));
    return { ...plain(again), rows: await rowsSince(fresh.owner, rows[0]?.now) };
  } finally {
    await fresh.stop();
  }
}

const plain = ({ status, body }: Reply) => ({ status, reply: withoutAccidents(JSON.stringify(body)) });

/** Ids, times and random numbers are never the same twice. */
const withoutAccidents = (text: string) =>
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
    found[name] = rows.map(({ row }) => withoutAccidents(JSON.stringify(row))).sort();
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
