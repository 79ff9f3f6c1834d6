import { expect, test } from '@jest/globals';
import { makeFamily, random, type Family } from '../../../support/scans/related-numbers.js';
import { rounds } from '../../../support/harness/effort.js';
import { deviceScan, sendScan, sendScans } from '../../../support/scans/device-scans.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';
import { withService } from '../../../support/fixture/with-service.js';

// FedEx numbers of 14 digits can end in the same valid 12. A batch keeps such parcels apart, as single scans do (decision 0105).

const { api, db } = withService();
const { receive, resolve } = makeScanCalls(api);

async function stateOf(family: Family) {
  const role = (number: string) => Object.entries(family).find(([, own]) => own === number)?.[0] ?? number;
  const numbers = Object.values(family);
  const packages = await db.all('packages', { tracking_number: numbers });
  const places = await db.all('parcel_positions', { parcel_key: numbers });
  return [
    packages.map((row) => `${role(row.tracking_number)} ${row.status}`).sort(),
    places.map((row) => `${role(row.parcel_key)} ${row.location}`).sort(),
  ];
}

test('one batch receives two parcels whose numbers end in the same 12 digits', async () => {
  const { one, two } = makeFamily();
  const { results } = await sendScans(api, [
    deviceScan('receive', one, 20, { weight: 1 }),
    deviceScan('receive', two, 10, { weight: 2 }),
  ]);
  expect(results.map(({ result, parcel }) => [result, parcel?.tracking_number])).toEqual([
    ['done', one],
    ['done', two],
  ]);
});

test('a short number that leads to two packages takes nothing from the second one', async () => {
  const { short, one, two } = makeFamily();
  const send = (...scan: Parameters<typeof deviceScan>) => sendScan(api, deviceScan(...scan));
  await send('receive', one, 60, { weight: 1 });
  await send('receive', two, 50, { weight: 2 });
  await send('hold', two, 40, { remarks: 'Wet.' });
  await send('locate', two, 30, { location: 'A2' });
  expect(await send('locate', short, 20, { location: 'A1' })).toMatchObject({
    result: 'refused',
    errors: [{ field: 'scan', code: 'ambiguous' }],
  });
  const stored = await db.query<{ parcel_key: string; kind: string }>(
    'select parcel_key, kind from scans where parcel_key = any($1) order by scanned_at',
    [[short, one, two]],
  );
  expect(stored.map((row) => [row.parcel_key, row.kind])).toEqual([
    [one, 'receive'],
    [two, 'receive'],
    [two, 'hold'],
    [two, 'locate'],
  ]);
});

test('no operation chooses between two packages whose numbers end in the scanned 12 digits', async () => {
  const { short, one, two, label } = makeFamily();
  for (const number of [two, one]) await receive(number).created();
  const shown = await resolve(short);
  expect(shown.next).toBe('review');
  expect(shown.matches.packages).toHaveLength(2);
  const refused = await receive(short).refused(400, 'validation_failed');
  expect(refused.errors).toMatchObject([
    { field: 'tracking_number', code: 'ambiguous', message: expect.stringContaining(one) },
  ]);
  const held = deviceScan('hold', short, 10, { remarks: 'Wet.' });
  const received = deviceScan('receive', short, 10, { weight: 1 });
  const { results } = await sendScans(api, [held, received, held]);
  const [first] = results;
  expect(first).toMatchObject({ result: 'refused', message: expect.stringContaining(two), parcel: null });
  expect(results.map(({ result }) => result)).toEqual(Array(3).fill('refused'));
  expect(await stateOf({ short, one, two, label, other: '', lower: '' })).toEqual([
    ['one received', 'two received'],
    [],
  ]);
  // The other barcodes say which one it is.
  expect((await resolve(label)).matches.packages).toMatchObject([{ tracking_number: one }]);
  expect((await receive(label).ok()).data).toMatchObject({ duplicate: true });
});

test('a package that has the scanned number itself decides in every operation', async () => {
  const { short, one, two } = makeFamily();
  for (const number of [one, two]) await receive(number).created();
  await db.query('update packages set tracking_key = $1, tracking_number = $1 where tracking_key = $2', [
    short,
    two,
  ]);
  const { packages } = (await resolve(short)).matches;
  expect(packages.map(({ tracking_number }) => tracking_number)).toEqual([short]);
  const house_number = packages[0]?.house_number;
  expect((await receive(short).ok()).data.house_number).toBe(house_number);
  expect(await sendScan(api, deviceScan('locate', short, 10, { location: 'A1' }))).toMatchObject({
    result: 'done',
    parcel: { house_number },
  });
});

test.each([
  ['a short number and one that ends with it', (n: number) => (['short', 'one'] as const)[n % 2]],
  ['two numbers and the short one of both', (n: number) => (['one', 'short', 'two'] as const)[n % 3]],
])(
  '500 scans of %s take about as long as 500 of one number',
  async (_name, roleOf) => {
    const timeOf = async (numberOf: (n: number) => string | undefined) => {
      const scans = Array.from({ length: 500 }, (_, n) => {
        const kind = n === 2 ? 'receive' : 'locate';
        const fields = n === 2 ? { weight: 1 } : { location: `A${n}` };
        return deviceScan(kind, numberOf(n) ?? '', 900 - n, fields);
      });
      const began = performance.now();
      await sendScans(api, scans);
      return performance.now() - began;
    };
    const [plain, family] = [makeFamily(), makeFamily()];
    const alone = await timeOf(() => plain.short);
    // In rounds that follow each other it was twenty times as much.
    expect(await timeOf((n) => family[roleOf(n) ?? 'short'])).toBeLessThan(4 * alone + 1_000);
  },
  60_000,
);

const ROUNDS = rounds(25, 300);
const ROLES = ['short', 'one', 'two', 'label', 'other', 'lower'] as const;

test(`a batch ends as its scans sent one by one in the order of their times, in ${ROUNDS} rounds`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const plan = Array.from({ length: 2 + random(round % 5 === 0 ? 14 : 6) }, (_, n) => ({
      role: ROLES[random(ROLES.length)] ?? 'short',
      kind: ['receive', 'receive', 'locate', 'hold'][random(4)] ?? 'receive',
      secondsAgo: 600 - n * 10,
      location: `A${n}`,
    }));
    const scansOf = (family: Family) =>
      plan.map(({ role, kind, secondsAgo, location }) =>
        deviceScan(kind, family[role], secondsAgo, {
          ...(kind === 'receive' ? { weight: 1 } : {}),
          ...(kind === 'locate' ? { location } : {}),
          ...(kind === 'hold' ? { remarks: 'Wet.' } : {}),
        }),
      );
    const [together, single] = [makeFamily(), makeFamily()];
    await sendScans(
      api,
      scansOf(together).sort(() => Math.random() - 0.5),
    );
    for (const scan of scansOf(single)) await sendScan(api, scan);
    expect({ plan, state: await stateOf(together) }).toEqual({ plan, state: await stateOf(single) });
  }
}, 120_000);
