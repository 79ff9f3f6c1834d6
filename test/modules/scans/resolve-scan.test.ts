import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startService, type Reply, type Service } from '../../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const NOTHING = { packages: [], prealerts: [], manifests: [], customers: [] };

const resolve = async (scan: string, as = 'warehouse'): Promise<Reply['body']> => {
  const { status, body } = await service.call('resolveScan', { as, body: { scan } });
  expect(status).toBe(200);
  return body['data'];
};

const receive = async (body: object) =>
  (await service.call('receivePackage', { as: 'warehouse', body: { weight: 1, ...body } })).body['data'];

async function announce(number: string, code = 'IEX-1001'): Promise<string> {
  const as = code.startsWith('HRB') ? 'hrb' : 'iex';
  const body = { user_code: code, tracking_number: number, vendor: 'Example Books' };
  const reply = await service.call('createPrealert', { as, body });
  expect(reply.status).toBe(201);
  return reply.body['data'].prealert_id;
}

/** As releases stored it that accepted a number in several spellings. */
const forgetKey = (id: string) =>
  service.owner.query('update prealerts set announced_key = null where id = $1', [id]);

const statusOf = async (prealertId: string) =>
  (await service.owner.query('select status from prealerts where id = $1', [prealertId])).rows[0]?.status;

const FEDEX_WEIGHTS = [1, 3, 7];

/** Returns the serial with its check digit. */
function fedex(serial: string): string {
  const sum = [...serial]
    .reverse()
    .reduce((total, digit, n) => total + Number(digit) * (FEDEX_WEIGHTS[n % 3] ?? 0), 0);
  return serial + String((sum % 11) % 10);
}

let serials = 0;
const newFedex = (length = 12) =>
  fedex(String((serials += 1)).padStart(length - 1, length === 12 ? '7' : '4'));
const labelOf = (number: string) => `10019213342500010003${number.padStart(14, '0')}`;

/** Other characters than those of house numbers, so that no format and no check digit fits. */
const newCode = () => `SCAN-${(serials += 1)}-0O1IL`;

async function newManifest(status: 'draft' | 'ready', packageId: string) {
  const { body } = await service.call('createManifest', { as: 'warehouse', body: {} });
  const manifest: { manifest_id: string; manifest_number: string } = body['data'];
  const manage = (request: object) =>
    service.call('manageManifest', {
      as: 'warehouse',
      body: { manifest_id: manifest.manifest_id, ...request },
    });
  await manage({ action: 'add_packages', package_ids: [packageId] });
  if (status === 'ready') await manage({ action: 'update_meta', status });
  return manifest;
}

describe('a parcel that is not received', () => {
  test.each([
    ['the 12 digits inside', () => newFedex(), (number: string) => number],
    ['the 12 digits, padded to 14', () => newFedex(), (number: string) => `00${number}`],
    ['14 digits', () => newFedex(14), (number: string) => number],
    ['spaces', () => newFedex(), (number: string) => number.replace(/(....)/g, '$1 ')],
  ])('the barcode of 34 digits finds the pre-alert with %s, and receives it', async (_name, make, spell) => {
    const number = make();
    const prealertId = await announce(spell(number));
    const scan = `]C1${labelOf(number)}\r\n`;
    const found = await resolve(scan);
    expect(found).toMatchObject({
      text: labelOf(number),
      matches: {
        packages: [],
        prealerts: [{ prealert_id: prealertId, user_code: 'IEX-1001', status: 'pending' }],
      },
      next: 'receive',
    });
    expect(found['candidates'][0]).toMatchObject({
      carrier: 'fedex',
      tracking_number: number,
      check: 'valid',
    });
    expect(await receive({ tracking_number: scan })).toMatchObject({
      prealert_id: prealertId,
      matched_by: 'prealert',
    });
    expect(await statusOf(prealertId)).toBe('received');
    const after = await resolve(number);
    expect(after).toMatchObject({
      next: 'already_received',
      matches: { packages: [{ matched_by: 'tracking_number' }] },
    });
    expect(after['matches'].packages[0].tracking_number).toBe(labelOf(number));
    expect(await receive({ tracking_number: number })).toMatchObject({ duplicate: true });
  });

  test('pre-alerts of two customers need a review, as do flagged ones', async () => {
    const number = newFedex();
    await forgetKey(await announce(number));
    const [, second] = (
      await service.owner.query(
        `select user_code from customers where courier_id = (select id from couriers where code = 'IEX' limit 1)
       order by user_code limit 2`,
      )
    ).rows;
    await announce(`00${number}`, second.user_code);
    expect(await resolve(labelOf(number))).toMatchObject({ next: 'review' });
    await receive({ tracking_number: number });
    expect(await resolve(labelOf(number))).toMatchObject({
      next: 'review',
      matches: { packages: [{ user_code: null }], prealerts: [{ status: 'flagged' }, { status: 'flagged' }] },
    });
  });

  test.each([
    ['a valid number', '1Z5R89390357567127', 'receive'],
    ['a number that looks like a carrier', 'TBA502887274000', 'receive'],
    ['a wrong check digit', '1Z5R89390357567128', 'unknown'],
    ['only what a scanner adds', '\u001d]C1', 'unknown'],
  ])('%s that nobody announced is answered with %s: %s', async (_name, scan, next) => {
    expect(await resolve(scan)).toMatchObject({ matches: NOTHING, next });
  });
});

describe('rows that earlier versions stored with another key', () => {
  const setKey = (table: 'prealerts' | 'packages', id: string, key: string) =>
    service.owner.query(`update ${table} set tracking_number = $2, tracking_key = $2 where id = $1`, [
      id,
      key,
    ]);

  test.each([
    ['padded to 14 digits', (number: string) => `00${number}`, labelOf],
    ['with spaces', (number: string) => `${number} `.replace(/(....)/g, '$1 ').trim(), undefined],
  ])('a pre-alert %s is found, and gets the key of the package', async (_name, spell, scanOf) => {
    const number = newFedex();
    const prealertId = await announce(number);
    await setKey('prealerts', prealertId, spell(number));
    const scan = (scanOf ?? spell)(number);
    expect(await resolve(scan)).toMatchObject({
      next: 'receive',
      matches: { prealerts: [{ prealert_id: prealertId }] },
    });
    const { package_id, prealert_id } = await receive({ tracking_number: scan });
    expect(prealert_id).toBe(prealertId);
    const { rows } = await service.owner.query(
      `select p.tracking_key as package, a.tracking_key as prealert from packages p, prealerts a
       where p.id = $1 and a.id = $2`,
      [package_id, prealertId],
    );
    expect(rows).toEqual([{ package: number, prealert: number }]);
  });

  test('a package in lower case is found, and not received again', async () => {
    const number = '1z5r89390357567127';
    const { package_id } = await receive({ tracking_number: newCode() });
    await setKey('packages', package_id, number);
    expect(await receive({ tracking_number: number })).toMatchObject({ package_id, duplicate: true });
    expect(await resolve(number)).toMatchObject({ matches: { packages: [{ package_id }] } });
  });
});

test('30 scans of one parcel at once, in six spellings, receive it once and settle its pre-alert', async () => {
  const number = newFedex();
  const prealertId = await announce(`00${number}`);
  const label = labelOf(number);
  const spellings = [
    number,
    `00${number}`,
    label,
    `]C1${label}`,
    `${label}\r${label}\r`,
    number.replace(/(....)/g, '$1 '),
  ];
  const received = await Promise.all(
    Array.from({ length: 30 }, (_, n) => receive({ tracking_number: spellings[n % spellings.length] })),
  );
  expect(new Set(received.map(({ package_id }) => package_id)).size).toBe(1);
  expect(received.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
  expect(received.map(({ prealert_id }) => prealert_id)).toEqual(received.map(() => prealertId));
});

describe('a received package', () => {
  test('is found by its number in every spelling and by its house number, doubled too', async () => {
    const number = newFedex();
    const { package_id, house_number } = await receive({
      tracking_number: labelOf(number),
      user_code: 'IEX-1001',
    });
    for (const scan of [
      number,
      `00${number}`,
      labelOf(number),
      `${number}${number}`,
      `]C1${number}\t]C1${number}\t`,
    ])
      expect((await resolve(scan))['matches'].packages).toMatchObject([
        { package_id, matched_by: 'tracking_number', user_code: 'IEX-1001', manifest_id: null },
      ]);
    for (const scan of [
      house_number,
      house_number.toLowerCase(),
      house_number + house_number,
      ` ${house_number}\r`,
    ])
      expect(await resolve(scan)).toMatchObject({
        candidates: [],
        matches: { packages: [{ package_id, matched_by: 'house_number' }] },
        next: 'already_received',
      });
  });

  test('is loaded on a ready manifest, and the number of that manifest is answered with load', async () => {
    const { package_id, house_number } = await receive({ tracking_number: newCode() });
    const draft = await newManifest('draft', package_id);
    expect(await resolve(house_number)).toMatchObject({ next: 'already_received' });
    expect(await resolve(draft.manifest_number)).toMatchObject({ next: 'review' });
    const body = { action: 'update_meta', manifest_id: draft.manifest_id, status: 'ready' };
    await service.call('manageManifest', { as: 'warehouse', body });
    expect(await resolve(house_number)).toMatchObject({
      next: 'load',
      matches: { packages: [{ manifest_number: draft.manifest_number, manifest_status: 'ready' }] },
    });
    expect(await resolve(draft.manifest_number.toLowerCase())).toMatchObject({
      next: 'load',
      matches: { packages: [], manifests: [{ manifest_id: draft.manifest_id, status: 'ready' }] },
    });
  });

  test.each(['on_hold', 'customs_hold', 'returned', 'lost'])(
    'with the status %s needs a review',
    async (status) => {
      const { package_id, house_number } = await receive({ tracking_number: newCode() });
      await newManifest('ready', package_id);
      await service.owner.query('update packages set status = $2 where id = $1', [package_id, status]);
      expect(await resolve(house_number)).toMatchObject({ next: 'review' });
    },
  );

  test('that has the number itself decides, although another one has its short number', async () => {
    const number = newFedex(14);
    await receive({ tracking_number: number });
    await service.owner.query(`update packages set tracking_key = $1 where id = $2`, [
      number.slice(-12),
      (await receive({ tracking_number: newCode() })).package_id,
    ]);
    const { matches, next } = await resolve(labelOf(number));
    expect([matches.packages.length, next]).toEqual([1, 'already_received']);
    expect(matches.packages[0].tracking_number).toBe(number);
  });
});

test('a user code finds the customers that have it', async () => {
  expect(await resolve('IEX-1001')).toMatchObject({
    candidates: [],
    matches: { ...NOTHING, customers: [{ user_code: 'IEX-1001', is_active: 1 }] },
    next: 'review',
  });
});

describe('a courier', () => {
  test('sees its own parcel as staff do', async () => {
    const number = newFedex();
    await announce(number);
    expect(await resolve(labelOf(number), 'iex')).toEqual(await resolve(labelOf(number)));
    await receive({ tracking_number: number });
    expect(await resolve(labelOf(number), 'iex')).toEqual(await resolve(labelOf(number)));
  });

  test("gets the same response for another courier's records as for unknown ones, also of another tenant", async () => {
    const number = newFedex();
    await announce(number);
    const { package_id, house_number } = await receive({ tracking_number: number });
    const { manifest_number } = await newManifest('ready', package_id);
    const announced = newFedex();
    await announce(announced);
    const withoutText = ({ text: _text, numbers: _numbers, candidates, ...others }: Reply['body']) => ({
      ...others,
      candidates: candidates.map(
        ({ tracking_number: _number, ...candidate }: object & { tracking_number: string }) => candidate,
      ),
    });
    const codes = [house_number, manifest_number, 'IEX-1001'];
    for (const as of ['hrb', 'two/two', 'two/admin']) {
      const unknown = { number: await resolve(labelOf(newFedex()), as), code: await resolve(newCode(), as) };
      expect(unknown.number).toMatchObject({ matches: NOTHING, next: 'receive' });
      for (const scan of [number, announced])
        expect(withoutText(await resolve(labelOf(scan), as))).toEqual(withoutText(unknown.number));
      for (const scan of codes)
        expect(withoutText(await resolve(scan, as))).toEqual(withoutText(unknown.code));
    }
  });

  test('does not find a package without a customer by its number, and sees it masked by its house number', async () => {
    const number = newFedex();
    const courier = await service.owner.query(`select id from couriers where code = 'IEX' limit 1`);
    const { house_number } = await receive({ tracking_number: number, courier_id: courier.rows[0].id });
    expect((await resolve(number))['matches'].packages).toHaveLength(1);
    expect(await resolve(number, 'iex')).toMatchObject({ matches: NOTHING, next: 'receive' });
    expect((await resolve(house_number, 'iex'))['matches'].packages).toMatchObject([
      { tracking_number: `********${number.slice(-4)}`, user_code: null },
    ]);
  });

  test('finds a manifest only if one of its packages is on it', async () => {
    const { package_id } = await receive({ tracking_number: newCode(), user_code: 'IEX-1001' });
    const { manifest_number } = await newManifest('ready', package_id);
    expect((await resolve(manifest_number, 'iex'))['matches'].manifests).toHaveLength(1);
    expect((await resolve(manifest_number, 'hrb'))['matches'].manifests).toEqual([]);
  });
});

test.each([
  ['no scan', {}],
  ['a blank scan', { scan: ' \r\n' }],
  ['a number instead of text', { scan: 779017972697 }],
  ['more than 1,000 characters', { scan: '1'.repeat(1_001) }],
])('refuses %s with 400', async (_name, body) => {
  const reply = await service.call('resolveScan', { as: 'warehouse', body });
  expect([reply.status, reply.body['errors'][0].field]).toEqual([400, 'scan']);
});

test('responds 401 without a token and to an API key', async () => {
  const body = { scan: '779017972697' };
  expect((await service.call('resolveScan', { body })).status).toBe(401);
  expect((await service.call('resolveScan', { key: 'a'.repeat(64), body })).status).toBe(401);
});

test('changes nothing: no audit entry, no event and no row', async () => {
  const counts = async () =>
    (
      await service.owner.query(
        `select (select count(*) from audit_entries) as audit, (select count(*) from package_events) as events,
        (select count(*) from packages) as packages, (select max(updated_at) from prealerts) as changed`,
      )
    ).rows[0];
  const number = newFedex();
  await announce(number);
  const before = await counts();
  await resolve(labelOf(number));
  expect(await counts()).toEqual(before);
});
