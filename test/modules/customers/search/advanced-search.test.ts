import { describe, expect, test } from '@jest/globals';
import { seededRandom } from '../../../../fixtures/demo/values/seeded-random.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { deleteExpired } from '../../../../src/jobs/retention.js';
import { clone } from '../../../support/builders/couriers.js';
import { rounds } from '../../../support/harness/effort.js';
import { nameOf, withSearchedCustomers } from './searched-customers.js';

const { IEX, HRB } = DEMO.couriers;

const { service, addCustomers, search, find, similar } = withSearchedCustomers();

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
