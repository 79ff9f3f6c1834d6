import { beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { withService } from '../../support/fixture/with-service.js';
import { multipart } from '../../support/fixture/sent.js';

/** Two or three pieces: a statement writes 10,000 rows. */
const ROWS = rounds(10_001, 20_001);
const FILE = [
  'user_code,first_name,last_name',
  ...Array.from({ length: ROWS }, (_, n) => `PIECE-${n},Same,Name`),
].join('\n');

const { api, service } = withService();

beforeEach(async () => {
  await service().owner.query("delete from customers where user_code like 'PIECE-%'");
});

const upload = () => api.as('iex').uploadCustomers(multipart({ file: { file: FILE } }));

async function countStored(): Promise<number> {
  const { rows } = await service().owner.query<{ count: number }>(
    "select count(*)::int as count from customers where user_code like 'PIECE-%'",
  );
  return rows[0]?.count ?? -1;
}

test('a file of several pieces is stored whole, and its audit entries are numbered through', async () => {
  const reply = await upload().ok();
  expect(reply.data).toMatchObject({ processed: ROWS, created: ROWS, updated: 0, unchanged: 0 });
  expect(await countStored()).toBe(ROWS);
  const { rows } = await service().owner.query<{ part: number; created: number }>(
    `select (after ->> 'part')::int as part, jsonb_array_length(after -> 'created') as created
     from audit_entries where request_id = $1 order by part`,
    [reply.headers.get('x-request-id')],
  );
  expect(rows.map(({ part }) => part)).toEqual(
    Array.from({ length: Math.ceil(ROWS / 500) }, (_, n) => n + 1),
  );
  expect(rows.reduce((sum, { created }) => sum + created, 0)).toBe(ROWS);

  const again = await upload().ok();
  expect(again.data).toMatchObject({ processed: ROWS, created: 0, updated: 0, unchanged: ROWS });
}, 120_000);

test('a file whose last piece fails stores nothing and uses no quota', async () => {
  const usage = async () => {
    const { rows } = await service().owner.query(
      "select * from courier_quotas where courier_id = $1 and kind = 'customer_changes'",
      [DEMO.couriers.IEX],
    );
    return rows;
  };
  const before = await usage();
  await service().owner.query(
    `alter table customers add constraint piece_refused check (user_code <> 'PIECE-${ROWS - 1}') not valid`,
  );
  try {
    expect(await upload().status()).toBe(500);
    expect(await countStored()).toBe(0);
    expect(await usage()).toEqual(before);
  } finally {
    await service().owner.query('alter table customers drop constraint piece_refused');
  }
}, 120_000);
