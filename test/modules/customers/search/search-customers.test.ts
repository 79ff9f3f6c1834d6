import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { seededRandom } from '../../../../fixtures/demo/values/seeded-random.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { nameOf, type FoundCustomer, withSearchedCustomers } from './searched-customers.js';

const { IEX, HRB, TWO } = DEMO.couriers;

/** Searches that are compared with a scan of all rows. */
const TEXTS = rounds(40, 300);
/** Customers of whom a search reads many or few. */
const WALKERS = rounds(5_000, 9_000);

const { api, service, addCustomers, search, find, similar } = withSearchedCustomers();

describe('basic search', () => {
  test(`${TEXTS} texts find literal matches in any case, ordered by name`, async () => {
    const { rows } = await service().owner.query<FoundCustomer & { id: string }>(
      `select * from customers where courier_id = $1 order by last_name, first_name, id`,
      [IEX],
    );
    const dice = seededRandom(3);
    const texts = ['%%', '__', '%_', '_\\', '\\\\', '100%', 'a_b', '_b', '%_\\', 'ÉTÉ', 'été', 'h S', 'zq'];
    while (texts.length < TEXTS) {
      const row = dice.pick(rows);
      const text = dice.pick([
        `${row.first_name} ${row.last_name}`,
        row.email ?? row.user_code,
        row.user_code,
      ]);
      const from = dice.whole(0, Math.max(0, text.length - 2));
      const part = text.slice(from, from + dice.whole(2, 8));
      const wild = dice.whole(1, 6) === 1 ? part.replace(/^./, dice.pick(['%', '_'])) : part;
      // The text is trimmed before it is searched for.
      if ([...wild.trim()].length >= 2) texts.push(dice.pick([wild, wild.toLowerCase(), wild.toUpperCase()]));
    }
    let hits = 0;
    const check = async (q: string) => {
      const containsQuery = (text: string | null) =>
        (text ?? '').toLowerCase().includes(q.trim().toLowerCase());
      const wanted = rows.filter(
        (row) =>
          containsQuery(`${row.first_name} ${row.last_name}`) ||
          containsQuery(row.email) ||
          containsQuery(row.user_code),
      );
      const found = await find({ q, limit: 50 });
      expect([q, found.map((each) => each.courier_customer_id)]).toEqual([
        q,
        wanted.slice(0, 50).map(({ id }) => id),
      ]);
      hits += found.length;
    };
    while (texts.length > 0) await Promise.all(texts.splice(0, 10).map(check));
    expect(hits).toBeGreaterThan(TEXTS);
  }, 60_000);

  test('the ordered index scan and the trigram index return the same results', async () => {
    await addCustomers(
      HRB,
      Array.from({ length: WALKERS }, (_, n) => ({
        first: `Walker${n % 90}`,
        last: `Aaa${n % 700}`,
        code: `W-${n}`,
      })),
    );
    await addCustomers(HRB, [{ first: 'Last', last: 'Zzz', code: 'RARE~1', email: 'rare@zz.example' }]);
    const expected = async (q: string) => {
      const { rows } = await service().owner.query<{ id: string }>(
        `select id from customers where courier_id = $1 and (first_name || ' ' || last_name || ' ' || user_code || ' '
           || coalesce(email, '')) ilike $2 order by last_name, first_name, id limit 15`,
        [HRB, `%${q}%`],
      );
      return rows.map(({ id }) => id);
    };
    // Terms that match all customers, one in ninety, or only the last one with three or two letters.
    for (const q of ['aaa', 'walker7', 'zzz', 'e~', '~1', 'zz.ex', 'nowhere', 'q~'])
      for (const as of ['hrb', 'admin'])
        expect([
          q,
          as,
          (await find({ q, courier_id: HRB }, as)).map((each) => each.courier_customer_id),
        ]).toEqual([q, as, await expected(q)]);
  }, 60_000);

  test('returns a score in advanced mode only', async () => {
    const [basic] = await find({ q: 'Zebedee' });
    const [advanced] = await find({ q: 'Zebedee', advanced: '1' });
    expect(basic).toEqual({ ...advanced, match_score: null });
    expect(advanced?.match_score).toBeGreaterThan(0);
    expect((await find({ q: 'Zebedee', advanced: '0' }))[0]?.match_score).toBeNull();
  });
});

describe('search parameters', () => {
  test.each([
    ['q', {}],
    ['q', { q: '' }],
    ['q', { q: 'a' }],
    ['q', { q: '😀' }],
    ['q', { q: 'a'.repeat(101) }],
    ['limit', { q: 'ab', limit: 0 }],
    ['limit', { q: 'ab', limit: 51 }],
    ['limit', { q: 'ab', limit: 'many' }],
    ['courier_id', { q: 'ab', courier_id: '7' }],
    ['advanced', { q: 'ab', advanced: 'yes' }],
  ])('rejects an invalid %s: %j', async (field, query) => {
    const reply = await search(query).answer();
    expect([reply.status, reply.code, reply.errors[0]?.field]).toEqual([400, 'validation_failed', field]);
  });

  test('returns 15 customers by default and at most 50 in both modes', async () => {
    for (const advanced of [false, true]) {
      expect(await find({ q: 'Campbell', advanced }, 'admin')).not.toHaveLength(0);
      expect(await find({ q: 'Walker1', advanced }, 'admin')).toHaveLength(15);
      expect(await find({ q: 'Walker1', advanced, limit: 50 }, 'admin')).toHaveLength(50);
      expect(await find({ q: 'Walker1', advanced, limit: 1 }, 'admin')).toHaveLength(1);
    }
  });

  test('returns an empty list if nothing matches', async () => {
    const reply = await search({ q: 'xqzjwvk' }).answer();
    expect(reply.body).toMatchObject({
      status: 'success',
      count: 0,
      data: [],
      message: 'No customers found.',
    });
    expect(await similar('xqzjwvk')).toEqual([]);
  });

  test.each([false, true])(
    'courier_id filters for staff and is ignored for couriers (advanced: %j)',
    async (advanced) => {
      const couriersOf = (rows: FoundCustomer[]) => new Set(rows.map((each) => each.courier_id));
      const q = 'Campbell';
      expect(couriersOf(await find({ q, advanced, limit: 50 }, 'admin'))).toEqual(new Set([IEX, HRB]));
      expect(couriersOf(await find({ q, advanced, courier_id: HRB }, 'warehouse'))).toEqual(new Set([HRB]));
      expect(await find({ q, advanced, courier_id: randomUUID() }, 'manager')).toEqual([]);
      expect(await find({ q, advanced, courier_id: TWO }, 'admin')).toEqual([]);
      expect(await find({ q, advanced, courier_id: HRB })).toEqual(await find({ q, advanced }));
      expect(couriersOf(await find({ q, advanced, courier_id: HRB }))).toEqual(new Set([IEX]));
    },
  );
});

describe('access to search', () => {
  test.each(['admin', 'manager', 'warehouse', 'iex', 'hrb', 'two/admin', 'two/two'])(
    '%s may search',
    async (as) => {
      const replies = [
        await search({ q: 'ca' }, as).answer(),
        await search({ q: 'Campbell', advanced: true }, as).answer(),
      ];
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    },
  );

  test('rejects anonymous callers and disabled users', async () => {
    expect(await api.anonymous.searchCustomers({ q: 'ca' }).status()).toBe(401);
    expect(await search({ q: 'ca' }, 'disabled').status()).toBe(403);
  });

  test.each(['ZebedeQuarshie', 'QuarshieZebedee', 'zebedeequarshy', 'Zebedee QuarshieFeather'])(
    'finds "%s", which lacks a space',
    async (q) => {
      await addCustomers(IEX, [
        { first: 'Zebedee', last: 'Quarshie' },
        { first: 'Zebedee', last: 'Quarshie Feather' },
      ]);
      const [best] = await similar(q);
      expect(best).toMatchObject({ first_name: 'Zebedee', last_name: expect.stringMatching(/^Quarshie/) });
    },
  );

  test("customers of siblings and other tenants do not change one byte of a courier's response", async () => {
    const queries = [
      'Zebedae Quarshi',
      'Jon Smyth',
      'Marsha Cambell',
      'Feather',
      'nobody likethis',
      'cam',
      'ZebedaeQuarshi',
      'JonSmyht',
    ].flatMap((q) => [
      { q, limit: 50, advanced: false },
      { q, limit: 50, advanced: true },
    ]);
    const bytes = async () => {
      const replies = [];
      for (const query of queries) replies.push({ ...(await search(query).ok()).body, timestamp: 0 });
      return JSON.stringify(replies);
    };
    const before = await bytes();
    const people = [
      'Zebedae Quarshi',
      'Jon Smyth',
      'Marsha Cambell',
      'Zebedee Quarshie',
      'Feather Feather',
    ].flatMap((name) => {
      const [first = '', last = ''] = name.split(' ');
      return Array.from({ length: 200 }, () => ({ first, last }));
    });
    await addCustomers(HRB, people);
    await addCustomers(TWO, people, DEMO.tenants.two);
    expect(await bytes()).toBe(before);
    expect((await similar('Zebedae Quarshi', 'hrb')).map(nameOf)[0]).toBe('Zebedae Quarshi');
  });
});
