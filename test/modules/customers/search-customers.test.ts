import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { seededRandom } from '../../../fixtures/demo/values/seeded-random.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { deleteExpired } from '../../../src/jobs/retention.js';
import { clone } from '../../support/builders/couriers.js';
import { rounds } from '../../support/harness/effort.js';
import { type Call } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX, HRB, TWO } = DEMO.couriers;

type Person = { first: string; last: string; code?: string; email?: string | null; active?: boolean };
type FoundCustomer = {
  courier_customer_id: string;
  user_code: string;
  first_name: string;
  last_name: string;
  email: string | null;
  courier_id: string;
  courier_name: string;
  match_score: number | null;
};

/** Searches that are compared with a scan of all rows. */
const TEXTS = rounds(40, 300);
/** Customers of whom a search reads many or few. */
const WALKERS = rounds(5_000, 9_000);

const { api, service } = withService();
beforeAll(async () => {
  await addCustomers(IEX, PEOPLE);
}, 60_000);

async function addCustomers(
  courierId: string,
  people: Person[],
  tenantId: string = DEMO.tenants.demo,
): Promise<void> {
  await service().owner.query(
    `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name, email, is_active)
     select $1, gen_random_uuid(), $2, p.code, p.first, p.last, p.email, coalesce(p.active, true)
     from jsonb_to_recordset($3) p (first text, last text, code text, email text, active boolean)`,
    [tenantId, courierId, JSON.stringify(people.map((each) => ({ code: `X-${randomUUID()}`, ...each })))],
  );
}

// Texts with the wildcards of ilike, and names of many kinds.
const PEOPLE: Person[] = [
  { first: '100%', last: 'Wool', code: 'PCT-1' },
  { first: 'a_b', last: 'Under_Score', code: 'U_1', email: 'under_score@mail.example' },
  { first: 'aXb', last: 'UnderXScore', code: 'UX1', email: 'underXscore@mail.example' },
  { first: 'back\\slash', last: 'BACK\\SLASH', code: 'B\\1' },
  { first: '%', last: '_', code: '%_\\' },
  { first: 'ÉTÉ', last: 'Ñandú' },
  { first: 'John', last: 'Smith' },
  { first: 'Zebedee', last: 'Quarshie' },
  { first: 'Étienne', last: 'Núñez' },
  { first: 'Mary-Ann', last: "O'Garro" },
  { first: 'Jean-Pierre', last: 'van der Linden' },
  { first: 'Indira', last: 'Ramkissoon-Persaud' },
  { first: 'Montgomery', last: 'Featherstone' },
  { first: 'Thaddeus', last: 'Gone', active: false },
];

const search = (query: Call['query'], as = 'iex') => api.as(as).searchCustomers(unchecked(query ?? {}));

async function find(query: Call['query'], as = 'iex'): Promise<FoundCustomer[]> {
  const reply = await search(query, as).ok();
  expect(reply.body['count']).toBe(reply.data.length);
  return reply.data;
}

const similar = (q: string, as = 'iex') => find({ q, advanced: true }, as);
const nameOf = ({ first_name: first, last_name: last }: FoundCustomer) => `${first} ${last}`;

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

describe('advanced search', () => {
  test.each([
    ['a wrong letter', 'Zebedae Quarshie', 'Zebedee Quarshie'],
    ['a missing letter', 'Zebdee Quarshie', 'Zebedee Quarshie'],
    ['a doubled letter', 'Zebedee Quarrshie', 'Zebedee Quarshie'],
    ['two letters swapped', 'Zebedee Qaurshie', 'Zebedee Quarshie'],
    ['two wrong letters in one name', 'Zebedee Qvarshye', 'Zebedee Quarshie'],
    ['a wrong letter in both', 'Zevedee Quarzhie', 'Zebedee Quarshie'],
    ['a spelling that sounds the same', 'Jon Smyth', 'John Smith'],
    ['a spelling that sounds the same', 'Marsha Cambell', 'Marcia Campbell'],
    ['names swapped', 'Quarshie Zebedee', 'Zebedee Quarshie'],
    ['names swapped and misspelt', 'Quarshy, Zebedee', 'Zebedee Quarshie'],
    ['accents left out', 'Etienne Nunez', 'Étienne Núñez'],
    ['accents added', 'Zébedée Quârshie', 'Zebedee Quarshie'],
    ['a different case', 'éTIENNE nÚÑEZ', 'Étienne Núñez'],
    ['an apostrophe left out', 'mary ann ogarro', "Mary-Ann O'Garro"],
    ['an apostrophe as a space', 'Maryann O Garro', "Mary-Ann O'Garro"],
    ['a typographic apostrophe', 'Mary-Ann O’Garro', "Mary-Ann O'Garro"],
    ['a compound name written as one', 'Jeanpierre Vanderlinden', 'Jean-Pierre van der Linden'],
    ['half of a compound name', 'Indira Ramkissoon', 'Indira Ramkissoon-Persaud'],
    ['the beginning of a name', 'Montg Featherstone', 'Montgomery Featherstone'],
    ['the beginning of a name', 'Montgomery Feath', 'Montgomery Featherstone'],
    ['one name alone', 'Fetherstone', 'Montgomery Featherstone'],
    ['the beginning of one name alone', 'Feathers', 'Montgomery Featherstone'],
  ])('finds a match despite %s: %s', async (_kind, q, wanted) => {
    for (const as of ['iex', 'admin']) expect((await similar(q, as)).map(nameOf)[0]).toBe(wanted);
  });

  test('orders by score and then by name, with stable results', async () => {
    const first = await find({ q: 'Cambel', advanced: true, limit: 50 }, 'admin');
    expect(first.length).toBeGreaterThan(5);
    const scores = first.map((each) => each.match_score ?? NaN);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    for (const [index, each] of first.entries()) {
      const next = first[index + 1];
      if (!next || next.match_score !== each.match_score) continue;
      const [one, other] = [each, next].map((row) =>
        [row.last_name, row.first_name, row.courier_customer_id].join('\0'),
      );
      expect([one, other]).toEqual([one, other].sort());
    }
    for (let round = 0; round < 5; round += 1)
      expect(await find({ q: 'Cambel', advanced: true, limit: 50 }, 'admin')).toEqual(first);
  });

  test('scores a name in order above a swapped one and an exact name highest', async () => {
    const scoreOf = async (q: string) =>
      (await similar(q)).find((each) => nameOf(each) === 'Zebedee Quarshie')?.match_score;
    const exact = await scoreOf('Zebedee Quarshie');
    expect(exact).toBeGreaterThan((await scoreOf('Quarshie Zebedee')) ?? 0);
    expect(exact).toBeGreaterThan((await scoreOf('Zebedee Quarshy')) ?? 0);
  });

  test('lists all exact matches first, and returns each similar name once before repeating one', async () => {
    await addCustomers(
      IEX,
      Array.from({ length: 12 }, () => ({ first: 'Wilhelmina', last: 'Oldershaw' })),
    );
    await addCustomers(IEX, [{ first: 'Wilhelmine', last: 'Oldershaw' }]);
    const exact = await similar('Wilhelmina Oldershaw');
    expect(exact.slice(0, 12).map(nameOf)).toEqual(Array(12).fill('Wilhelmina Oldershaw'));
    expect(new Set(exact.slice(0, 12).map((each) => each.match_score)).size).toBe(1);
    const guessed = (await similar('Wilhelminn Oldershaw')).map(nameOf);
    expect(new Set(guessed.slice(0, 3)).size).toBe(2);
  });

  test('finds a renamed customer by the new name and not by the old one', async () => {
    await addCustomers(IEX, [{ first: 'Bartholomew', last: 'Oyelaran', code: 'REN-1' }]);
    expect((await similar('Bartolomew Oyelaran')).map(nameOf)[0]).toBe('Bartholomew Oyelaran');
    await service().owner.query(
      `update customers set first_name = 'Ignatius', last_name = 'Vellacott' where user_code = 'REN-1'`,
    );
    expect((await similar('Ignatious Velacott')).map(nameOf)[0]).toBe('Ignatius Vellacott');
    expect((await similar('Bartolomew Oyelaran')).map(nameOf)).not.toContain('Bartholomew Oyelaran');
    await service().owner.query(`delete from customers where user_code = 'REN-1'`);
    expect((await similar('Ignatious Velacott')).map(nameOf)).not.toContain('Ignatius Vellacott');
  });

  test('finds inactive customers in both modes', async () => {
    expect((await find({ q: 'Thaddeus' })).map(nameOf)).toEqual(['Thaddeus Gone']);
    expect((await similar('Thadeus Gone')).map(nameOf)[0]).toBe('Thaddeus Gone');
  });

  test.each([
    '..',
    '%%',
    '__',
    "''",
    '日本',
    'ß',
    '😀😀',
    'a'.repeat(100),
    'ab '.repeat(33),
    '\u0301\u0301',
    '-- ;',
    '\\\\',
  ])('succeeds for the text %j', async (q) => {
    const padded = [...q].length < 2 ? q + q : q;
    const replies = [
      await search({ q: padded }, 'iex').answer(),
      await search({ q: padded, advanced: true }, 'iex').answer(),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
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

describe('dictionary of terms', () => {
  const SHUFFLED = rounds(100, 2_000);
  const NAMES = 'select distinct scope_id, term from customer_terms order by 1, 2';

  test(`20 callers who store the same ${SHUFFLED} shuffled rows at once neither deadlock nor miss a term`, async () => {
    const people = Array.from({ length: SHUFFLED }, (_, n) => ({
      first: `Race${n % 97}`,
      last: `Terms${n}`,
    }));
    await Promise.all(
      Array.from({ length: 20 }, (_, caller) => {
        const dice = seededRandom(caller);
        const shuffled = people
          .map((person) => ({ person, at: dice.whole(0, 1 << 30) }))
          .sort((a, b) => a.at - b.at)
          .map(({ person }, n) => ({ ...person, code: `RACE-${caller}-${n}` }));
        return addCustomers(caller % 2 ? IEX : HRB, shuffled);
      }),
    );
    const { rows } = await service().owner.query<{ n: number }>(
      `select count(distinct (scope_id, term))::int as n from customer_terms where term ~ '^(race|terms)[0-9]+$'`,
    );
    expect(rows[0]?.n).toBe(3 * (SHUFFLED + 97));
    const deleted = await service().owner.query(`delete from customers where user_code like 'RACE-%'`);
    expect(deleted.rowCount).toBe(20 * SHUFFLED);
  }, 120_000);

  test('retention deletes unused and duplicate terms and changes no search result', async () => {
    const answers = async () => [await similar('Jon Smyth'), await similar('Marsha Cambell', 'admin')];
    const before = await answers();
    const { rows: full } = await service().owner.query<{ n: number }>(
      'select count(*)::int as n from customer_terms',
    );
    await deleteExpired({ db: service().db, stopping: new AbortController().signal });
    expect(await answers()).toEqual(before);
    const stored = await service().owner.query(NAMES);
    const total = await service().owner.query<{ n: number }>('select count(*)::int as n from customer_terms');
    expect(total.rows[0]?.n).toBe(stored.rowCount);
    expect((full[0]?.n ?? 0) - (total.rows[0]?.n ?? 0)).toBeGreaterThan(3 * SHUFFLED);
    const wanted = await service().owner.query(
      `with had as (select tenant_id, courier_id, term from customers, unnest(indexed_name_terms(first_name) || indexed_name_terms(last_name)) term)
       select courier_id as scope_id, term from had union select tenant_id, term from had order by 1, 2`,
    );
    expect(stored.rows).toEqual(wanted.rows);
  }, 60_000);

  test('a change that keeps the names adds no terms', async () => {
    const { rows: before } = await service().owner.query(NAMES);
    await service().owner.query(`update customers set is_active = not is_active where user_code = 'PCT-1'`);
    await clone(service().owner, 'customers', (await find({ q: 'PCT-1' }))[0]?.courier_customer_id ?? '', {
      user_code: 'PCT-2',
    });
    expect((await service().owner.query(NAMES)).rows).toEqual(before);
  });
});
