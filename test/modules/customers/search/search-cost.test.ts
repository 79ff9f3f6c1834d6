import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { substringMatches } from '../../../../src/modules/customers/search/queries.js';
import { makeContext, type UserContext } from '../../../../src/platform/context/request-context.js';
import { blocksOf } from '../../../support/assertions/blocks.js';
import { insertWithoutTriggers } from '../../../support/builders/many-rows.js';
import { withService } from '../../../support/fixture/with-service.js';

// The names are walked in their order for a text that many have, and the trigram index is asked for one that few have.

const { db, service } = withService();

const CUSTOMERS = 6_000;
/** Names of a first walk; each costs about a block. */
const FIRST_WALK = 400;
const PAGE = 20;

beforeAll(async () => {
  await insertWithoutTriggers(
    service().owner,
    `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
     select $1, gen_random_uuid(), $2, 'WALK-' || n,
       case when n = $3::int then 'Zelpha' when n % 50 = 0 then 'Common' when n between $4::int + 1 and $4::int + 100 then 'Azz' else 'Bea' end, 'Name' || lpad(n::text, 5, '0')
     from generate_series(1, $3::int) n order by md5(n::text)`,
    [DEMO.tenants.demo, DEMO.couriers.IEX, CUSTOMERS, FIRST_WALK],
  );
  await db.query('vacuum analyze customers');
}, 60_000);

const staff = (): UserContext =>
  makeContext(
    service().db,
    {
      kind: 'user',
      tenantId: DEMO.tenants.demo,
      userId: DEMO.users.admin,
      role: 'admin',
      courierId: null,
      tokenVersion: 1,
      expiresAt: Math.floor(Date.now() / 1_000) + 3_600,
    },
    'a-request',
  );

async function search(q: string, courier_id?: string): Promise<{ blocks: number; codes: string[] }> {
  const statement = substringMatches(staff(), { q, limit: PAGE, advanced: false, courier_id });
  const [rows] = await staff().read([statement]);
  // The first call of a session also reads the catalogue.
  const blocks = Math.min(await blocksOf(staff(), statement), await blocksOf(staff(), statement));
  return { blocks, codes: rows.map(({ userCode }) => userCode) };
}

test.each([
  ['staff', undefined],
  ['staff, of one courier', DEMO.couriers.IEX],
])('a text that one customer has costs one short walk: %s', async (_name, courierId) => {
  const { blocks, codes } = await search('zelpha', courierId);
  expect(codes).toEqual([`WALK-${CUSTOMERS}`]);
  expect(blocks).toBeGreaterThan(0);
  expect(blocks).toBeLessThan(2 * FIRST_WALK);
});

test('a text that many have is found in the order of names, without all that have it', async () => {
  const { blocks, codes } = await search('common');
  expect(codes).toEqual(Array.from({ length: PAGE }, (_, n) => `WALK-${(n + 1) * 50}`));
  expect(blocks).toBeLessThan(5 * FIRST_WALK);
});

test('a text of two letters, which the index does not know, walks on instead of reading all', async () => {
  const { blocks, codes } = await search('zz');
  expect(codes).toEqual(Array.from({ length: PAGE }, (_, n) => `WALK-${FIRST_WALK + n + 1}`));
  expect(blocks).toBeLessThan(CUSTOMERS);
});
