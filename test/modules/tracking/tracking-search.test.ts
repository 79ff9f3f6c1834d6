import { describe, expect, test } from '@jest/globals';
import { isLastName } from '../../../src/modules/tracking/pages/last-name.js';
import { newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeTracking } from './tracking-calls.js';

// Each address has its own limit.
const { api, db, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { enable, receive, open, search } = makeTracking(api, service);

let last = 0;
const fromAnother = () => ({ headers: { 'x-forwarded-for': `198.51.100.${(last += 1)}` } });
const nameOf = async (code = 'IEX-1001') =>
  (await db.all('customers', { user_code: code }))[0]?.last_name ?? '';
const NOTHING = 'There is no parcel with this number and this last name';

describe('a search', () => {
  test('shows the page of the parcel for the right name, without a link', async () => {
    await enable({ is_search_enabled: true });
    const { number } = await receive();
    const found = await search(number, (await nameOf()).toUpperCase(), fromAnother());
    expect(found.status).toBe(200);
    expect(found.html).toContain(number);
    expect(found.html).toContain('At the warehouse');
    expect(found.html).not.toContain('/track/');
    expect(await db.count('tracking_links', {})).toBe(0);
    const inSpanish = await search(` ${number.toLowerCase()} `, await nameOf(), {
      ...fromAnother(),
      query: { courier: 'iex', lang: 'es' },
    });
    expect(inSpanish.html).toContain('En el almacén');
  });

  test('is a form without a script, in two languages', async () => {
    await enable({ is_search_enabled: true });
    const form = await open('getTrackingSearch', { query: { courier: 'IEX', lang: 'es' }, ...fromAnother() });
    expect(form.status).toBe(200);
    expect(form.html).toContain('<form method="post" action="?courier=IEX&#38;lang=es">');
    expect(form.html).toContain('¿Dónde está mi paquete?');
    expect(form.html).not.toContain('<script');
  });

  test('is not there unless the courier has switched on both its pages and the search', async () => {
    const { number } = await receive();
    const statuses = async () => {
      const query = { courier: 'IEX' };
      const form = await open('getTrackingSearch', { query, ...fromAnother() });
      return [form.status, (await search(number, await nameOf(), fromAnother())).status];
    };
    await enable({ is_search_enabled: false });
    expect(await statuses()).toEqual([404, 404]);
    await enable({ is_enabled: false, is_search_enabled: true });
    expect(await statuses()).toEqual([404, 404]);
    await enable({ is_search_enabled: true });
    expect(await statuses()).toEqual([200, 200]);
    const unknown = await open('getTrackingSearch', { query: { courier: 'NOBODY' }, ...fromAnother() });
    expect(unknown.status).toBe(404);
  });

  test('answers the same to a wrong name, a number that does not exist, and what belongs to others', async () => {
    await enable({ is_search_enabled: true });
    const own = await receive();
    const siblings = await receive('HRB-2001');
    const answers = [
      await search(own.number, 'Wrongname', fromAnother()),
      await search(newNumber(), 'Wrongname', fromAnother()),
      await search(newNumber(), await nameOf(), fromAnother()),
      await search(siblings.number, await nameOf('HRB-2001'), fromAnother()),
      await search('****1234', await nameOf(), fromAnother()),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(answers.map(({ html }) => html)).size).toBe(1);
    expect(answers[0]?.html).toContain(NOTHING);
    const headersOf = ({ reply }: (typeof answers)[0]) =>
      [...reply.headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
    expect(new Set(answers.map((answer) => JSON.stringify(headersOf(answer)))).size).toBe(1);
  });

  test('takes the same time for a wrong name and a number that does not exist', async () => {
    await enable({ is_search_enabled: true });
    const name = 'Wrongname';
    const parcels = await Promise.all(Array.from({ length: 12 }, () => receive()));
    const times = { wrong: [] as number[], unknown: [] as number[] };
    for (let round = 0; round < 48; round += 1)
      for (const kind of round % 2 ? (['wrong', 'unknown'] as const) : (['unknown', 'wrong'] as const)) {
        const number = kind === 'wrong' ? (parcels[round % 12]?.number ?? '') : newNumber();
        const startedMs = performance.now();
        await search(number, name, fromAnother());
        times[kind].push(performance.now() - startedMs);
      }
    // The share of pairs in which the wrong name took longer: one half if the times tell nothing.
    const pairs = times.wrong.flatMap((a) => times.unknown.map((b): number => (a > b ? 1 : 0)));
    const share = pairs.reduce((sum, each) => sum + each, 0) / pairs.length;
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.7);
  });

  test('after five wrong names in an hour, the right one is answered as a wrong one', async () => {
    await enable({ is_search_enabled: true });
    const { number } = await receive();
    const name = await nameOf();
    expect((await search(number, name, fromAnother())).html).not.toContain(NOTHING);
    for (let n = 0; n < 5; n += 1)
      expect((await search(number, `Wrong${n}`, fromAnother())).html).toContain(NOTHING);
    const refused = await search(number, name, fromAnother());
    expect(refused.status).toBe(200);
    expect(refused.html).toBe((await search(newNumber(), name, fromAnother())).html);
    const other = await receive();
    expect((await search(other.number, name, fromAnother())).html).toContain(other.number);
  });

  test('a right name may be repeated, and uses up none of the five', async () => {
    await enable({ is_search_enabled: true });
    const { number } = await receive();
    const name = await nameOf();
    for (let n = 0; n < 12; n += 1)
      expect((await search(number, name, fromAnother())).html).toContain(number);
  });

  test('of 60 names that arrive at once for a parcel, at most five are compared', async () => {
    await enable({ is_search_enabled: true });
    const { number } = await receive();
    const name = await nameOf();
    const names = Array.from({ length: 60 }, (_, n) => (n < 40 ? `Wrong${n}` : name));
    const answers = await Promise.all(names.map((each) => search(number, each, fromAnother())));
    const right = answers.filter(({ html }) => html.includes(number));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(right.length).toBeLessThanOrEqual(20);
    expect((await search(number, name, fromAnother())).html).toContain(NOTHING);
  });

  test('an address has 30 searches per hour', async () => {
    await enable({ is_search_enabled: true });
    const from = fromAnother();
    const statuses: number[] = [];
    for (let n = 0; n < 32; n += 1) statuses.push((await search(newNumber(), 'Any', from)).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(30);
    const refused = await search(newNumber(), 'Any', from);
    expect(refused.status).toBe(429);
    expect(refused.html).toContain('Too many attempts');
    expect(refused.html).toContain('<a href="?courier=IEX">Try again</a>');
    expect((await search(newNumber(), 'Any', fromAnother())).status).toBe(200);
  });

  test('refuses a body that is too large or no form before it reads it', async () => {
    const large = await search('1'.repeat(3_000), 'Any', fromAnother());
    expect(large.status).toBe(413);
    const query = { courier: 'IEX' };
    for (const sent of [
      { body: { tracking_number: '1', last_name: 'A' } },
      { form: { tracking_number: '1' } },
    ])
      expect((await open('submitTrackingSearch', { query, ...sent, ...fromAnother() })).status).toBe(415);
    const incomplete = await open('submitTrackingSearch', {
      query,
      urlencoded: { tracking_number: '1' },
      ...fromAnother(),
    });
    expect([incomplete.status, incomplete.html.includes('The page cannot be shown')]).toEqual([400, true]);
  });
});

test.each([
  ['garcia', 'García', true],
  ['GARCÍA MÁRQUEZ', 'Garcia Marquez', true],
  ['marquez', 'García Márquez', true],
  ['garcia', 'García-Márquez', true],
  ['de la cruz', 'De la Cruz', true],
  ['delacruz', 'De La Cruz', true],
  ['cruz', 'De la Cruz', true],
  ['de la', 'De la Cruz', false],
  ['de', 'De la Cruz', false],
  ['obrien', "O'Brien", true],
  ['O’Brien', 'OBrien', true],
  ['strasse', 'Straße', true],
  ['bjork', 'Bjørk', true],
  ['Li', 'Li', true],
  ['l', 'Li', false],
  ['garci', 'García', false],
  ['', 'García', false],
  ['-', '-', false],
  ['', '', false],
  ['marquez garcia', 'García Márquez', false],
  ['王', '王', true],
])('the last name %s is that of %s: %s', (entered, stored, isSame) => {
  expect(isLastName(entered, stored)).toBe(isSame);
});
