import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { deviceScan, sendScans } from '../../support/scans/device-scans.js';
import { startService, type Service } from '../../support/service/service.js';

// What a scan means: the number inside a barcode, one of several symbols, or a house number (decision 0072).

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

let serials = 0;
const newNumber = (name = 'MEANS') => `${name}-${(serials += 1)}-0O1IL`;

const receive = (number: string, fields: object = {}) =>
  service.call('receivePackage', {
    as: 'warehouse',
    body: { tracking_number: number, weight: 1, ...fields },
  });

const resolve = async (scan: string, as = 'warehouse') =>
  (await service.call('resolveScan', { as, body: { scan } })).body['data'];

const sendAnnouncement = (number: string, code = 'IEX-1001') =>
  service.call('createPrealert', {
    as: code.startsWith('HRB') ? 'hrb' : 'iex',
    body: { user_code: code, tracking_number: number, vendor: 'Example' },
  });

async function announce(number: string, code?: string): Promise<string> {
  const { status, body } = await sendAnnouncement(number, code);
  expect(status).toBe(201);
  return body['data'].prealert_id;
}

/** As releases stored it that accepted a number in several spellings. */
async function announceAsBefore(number: string): Promise<void> {
  const id = await announce(number);
  await service.owner.query('update prealerts set announced_key = null where id = $1', [id]);
}

const countPackages = async () =>
  (await service.owner.query('select count(*)::int as n from packages')).rows[0].n;

const otherCustomer = async () =>
  (
    await service.owner.query(
      "select user_code from customers where courier_id = $1 and user_code <> 'IEX-1001' and is_active order by 1 limit 1",
      [DEMO.couriers.IEX],
    )
  ).rows[0].user_code;

describe('the number that the reader names is looked up', () => {
  test.each([
    [
      '26 digits of USPS after a ZIP code of 5',
      '4203316692419901234567000000000017',
      '92419901234567000000000017',
    ],
    ['the 14 digits that DPD tells', '008182709980000020033350276C', '09980000020033'],
    ['the 15 digits of FedEx Ground', '9611020987654312345672', '987654312345672'],
  ])('%s', async (_name, barcode, told) => {
    const prealertId = await announce(told);
    expect(await resolve(barcode)).toMatchObject({ next: 'receive', owner: { user_code: 'IEX-1001' } });
    expect((await receive(barcode)).body['data']).toMatchObject({
      prealert_id: prealertId,
      matched_by: 'prealert',
    });
    expect((await receive(told)).body['data']).toMatchObject({ duplicate: true, prealert_id: prealertId });
    expect(await sendAnnouncement(barcode)).toMatchObject({
      status: 409,
      body: { code: 'duplicate_tracking_number', existing: { prealert_id: prealertId, status: 'received' } },
    });
  });
});

describe.each([
  ['CR', '\r'],
  ['GS', '\u001d'],
  ['^]', '^]'],
  ['CR and LF', '\r\n'],
  ['a TAB', '\t'],
])('two symbols with %s between them', (_name, separator) => {
  const receiveByStation = async (scan: string) =>
    (await sendScans(service, [deviceScan('receive', scan, 10, { weight: 1 })])).results[0];

  test('one known pre-alert decides, whichever it is', async () => {
    const [first, second] = [newNumber(), newNumber()];
    const ids = [await announce(first), await announce(second)];
    const [one, two] = [`${first}${separator}ZIP00961`, `ZIP00961${separator}${second}`];
    expect(await resolve(one)).toMatchObject({
      next: 'receive',
      kind: 'parcel',
      owner: { user_code: 'IEX-1001' },
    });
    expect((await receive(one)).body['data']).toMatchObject({ prealert_id: ids[0] });
    expect(await receiveByStation(two)).toMatchObject({
      outcome: 'done',
      parcel: { tracking_number: second },
    });
    expect((await receive(first)).body['data'].duplicate).toBe(true);
    expect(await resolve(one)).toMatchObject({ next: 'already_received' });
  });

  test('a received package decides as well, by its number and by its house number', async () => {
    const number = newNumber();
    const { package_id, house_number } = (await receive(number)).body['data'];
    for (const scan of [
      `${number}${separator}ZIP00961`,
      `ZIP00961${separator}${house_number}`,
      `${house_number}${separator}${number}`,
    ]) {
      expect((await receive(scan)).body['data']).toMatchObject({ package_id, duplicate: true });
      expect(await receiveByStation(scan)).toMatchObject({
        reason: 'already_received',
        parcel: { package_id },
      });
    }
  });

  test('without a record, or with two, intake refuses and names both, and ResolveScan says so', async () => {
    const known = [newNumber(), newNumber()];
    for (const number of known) await announce(number);
    const before = await countPackages();
    for (const [first, second] of [
      ['TWO1-XY', 'ZIP00961'],
      [known[0], known[1]],
    ]) {
      const scan = `${first}${separator}${second}`;
      const reply = await receive(scan);
      expect([reply.status, reply.body['errors'][0].field]).toEqual([400, 'tracking_number']);
      expect(reply.body['message']).toContain(first);
      expect(reply.body['message']).toContain(second);
      expect(await receiveByStation(scan)).toMatchObject({ result: 'refused', reason: 'invalid' });
      const shown = await resolve(scan);
      expect(shown).toMatchObject({ next: 'review', kind: 'several_numbers', owner: null });
      expect(shown.numbers).toEqual(expect.arrayContaining([first, second]));
    }
    expect(await countPackages()).toBe(before);
  });

  test('a pre-alert and a correction must be one number', async () => {
    const text = `TWO1-XY${separator}ZIP00961`;
    const { package_id } = (await receive(newNumber())).body['data'];
    const prealert_id = await announce(newNumber());
    const body = { user_code: 'IEX-1001', tracking_number: text, vendor: 'Example' };
    const replies = [
      await service.call('submitPrealert', {
        key: DEMO.apiKeys.IEX,
        body: { UserCode: 'IEX-1001', TrackingNumber: text },
      }),
      await service.call('createPrealert', { as: 'iex', body }),
      await service.call('replacePrealert', { as: 'iex', body: { ...body, prealert_id } }),
      await service.call('updatePackage', { as: 'warehouse', body: { package_id, tracking_number: text } }),
      await service.call('uploadPrealerts', {
        as: 'iex',
        form: { file: { file: `tracking_number,user_code\n"${text}",IEX-1001\n` } },
      }),
    ];
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 400));
    for (const { body: failure } of replies) expect(JSON.stringify(failure)).toContain('TWO1-XY');
    const lines = await service.call('submitPrealert', {
      key: DEMO.apiKeys.IEX,
      headers: { 'content-type': 'application/x-ndjson' },
      body: JSON.stringify({ UserCode: 'IEX-1001', TrackingNumber: text }),
    });
    expect(lines.body['data'].results).toMatchObject([{ status: 'invalid', code: 'validation_failed' }]);
  });
});

test.each(['\u0001', '\u0008', '\u001b', '\u007f', '\u009b'])(
  'a control character inside a number is refused: %j',
  async (character) => {
    const text = `CON${character}TROL-1`;
    const reply = await receive(text);
    const resolved = await service.call('resolveScan', { as: 'warehouse', body: { scan: text } });
    expect([reply.status, resolved.status]).toEqual([400, 400]);
    const { results } = await sendScans(service, [deviceScan('receive', text, 1, { weight: 1 })]);
    expect(results[0].result).toBe('refused');
    const announced = await service.call('submitPrealert', {
      key: DEMO.apiKeys.IEX,
      body: { UserCode: 'IEX-1001', TrackingNumber: text },
    });
    expect(announced.status).toBe(400);
  },
);

test('a scan that a record decided is repeated with its answer when the records have changed', async () => {
  const number = newNumber();
  await announce(number);
  const scan = deviceScan('receive', `${number}\rZIP00961`, 10, { weight: 1 });
  expect((await sendScans(service, [scan])).results[0]).toMatchObject({ result: 'done' });
  await announce('ZIP00961');
  expect((await sendScans(service, [scan])).results[0]).toMatchObject({
    result: 'repeated',
    outcome: 'done',
  });
});

test.each(['before', 'after'])(
  'a scan of two symbols %s the receipt of one of them in the same batch is of that parcel',
  async (place) => {
    const number = newNumber();
    const received = deviceScan('receive', number, 10, { weight: 1 });
    const located = deviceScan('locate', `${number}\rORDER-${number}`, 5, { location: 'B-2' });
    const scans = place === 'before' ? [located, received] : [received, located];
    const { results } = await sendScans(service, scans);
    const outcome = { result: 'done', parcel: { tracking_number: number, location: 'B-2' } };
    expect(results).toMatchObject([outcome, outcome]);
  },
);

describe('the number of a manifest and the code of a customer are never a new parcel', () => {
  const CODE = 'IEX-1002';
  const createManifest = async (): Promise<string> =>
    (await service.call('createManifest', { as: 'manager', body: {} })).body['data'].manifest_number;

  test.each([
    ['the number of a manifest', createManifest, 'the number of a manifest'],
    ['the code of a customer', async () => CODE, 'the code of a customer'],
  ])('%s is refused by ReceivePackage, and by batches in every kind', async (_, make, words) => {
    const number = await make();
    const before = await countPackages();
    for (const spelling of [number, `*${number}*`, `]C1${number}\r`]) {
      const { status, body } = await receive(spelling);
      expect([status, body['errors'][0].message]).toEqual([400, expect.stringContaining(words)]);
    }
    const { results } = await sendScans(service, [
      deviceScan('receive', number, 3, { weight: 1 }),
      deviceScan('locate', number, 2, { location: 'A' }),
      deviceScan('receive', newNumber(), 1, { weight: 1 }),
    ]);
    expect(results).toMatchObject([
      { result: 'refused', reason: 'not_a_parcel', message: expect.stringContaining(words) },
      { result: 'refused', reason: 'not_a_parcel' },
      { result: 'done' },
    ]);
    expect(await countPackages()).toBe(before + 1);
  });

  test('unless a pre-alert has the code as its number', async () => {
    const code = await otherCustomer();
    await announce(code);
    expect((await receive(code)).body['data'].matched_by).toBe('prealert');
    expect((await receive(code)).status).toBe(200);
  });

  test('a code of another tenant is no code here', async () => {
    const { rows } = await service.owner.query(
      'select user_code from customers where tenant_id <> $1 and user_code not in (select user_code from customers where tenant_id = $1) limit 1',
      [DEMO.tenants.demo],
    );
    expect((await receive(rows[0].user_code)).status).toBe(201);
  });
});

describe('a house number is never a new parcel', () => {
  test('ReceivePackage answers with the package, in every spelling, also 40 at once', async () => {
    const first = (await receive(newNumber(), { user_code: 'IEX-1001' })).body['data'];
    const { house_number, package_id } = first;
    const before = await countPackages();
    const spellings = [
      house_number,
      house_number.toLowerCase(),
      `*${house_number}*`,
      `]C1${house_number}\r`,
      house_number + house_number,
    ];
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, n) => receive(spellings[n % spellings.length] ?? '')),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(replies.map(({ body }) => body['data'].package_id))).toEqual(new Set([package_id]));
    expect(replies[0]?.body['data']).toEqual({ ...first, duplicate: true });
    expect(await countPackages()).toBe(before);
  });

  test('while the package gets other tracking numbers', async () => {
    const { house_number, package_id } = (await receive(newNumber())).body['data'];
    const before = await countPackages();
    const renumber = () =>
      service.call('updatePackage', {
        as: 'warehouse',
        body: { package_id, tracking_number: newNumber('RENUMBERED') },
      });
    const locateLabel = () => sendScans(service, [deviceScan('locate', house_number, 1, { location: 'A' })]);
    const rounds = Array.from({ length: 4 }, () =>
      Promise.all([receive(house_number), renumber(), locateLabel()]),
    );
    const received = (await Promise.all(rounds)).map(([reply]) => reply);
    expect(received).toEqual(
      received.map(() =>
        expect.objectContaining({
          status: 200,
          body: expect.objectContaining({ data: expect.objectContaining({ package_id }) }),
        }),
      ),
    );
    expect(await countPackages()).toBe(before);
  });

  test('a package cannot be given the house number of a package', async () => {
    const { package_id } = (await receive(newNumber())).body['data'];
    const { house_number } = (await receive(newNumber())).body['data'];
    const reply = await service.call('updatePackage', {
      as: 'warehouse',
      body: { package_id, tracking_number: `*${house_number.toLowerCase()}*` },
    });
    expect([reply.status, reply.body['code']]).toEqual([409, 'duplicate_tracking_number']);
  });

  test('a load scan in lower case or with asterisks is of its package', async () => {
    const { house_number, package_id } = (await receive(newNumber(), { user_code: 'IEX-1001' })).body['data'];
    const { body } = await service.call('createManifest', { as: 'warehouse', body: {} });
    const { manifest_id } = body['data'];
    const manage = (request: object) =>
      service.call('manageManifest', { as: 'warehouse', body: { manifest_id, ...request } });
    await manage({ action: 'add_packages', package_ids: [package_id] });
    await manage({ action: 'update_meta', status: 'ready' });
    for (const label of [
      house_number.toLowerCase(),
      `*${house_number}*`,
      `*${house_number.toLowerCase()}*\r`,
    ]) {
      const { results } = await sendScans(service, [deviceScan('load', label, 5, { manifest_id })]);
      expect(results[0]).toMatchObject({
        outcome: 'done',
        parcel: { package_id, loaded_manifest_id: manifest_id },
      });
    }
    const loading = await service.call('getManifestLoading', { as: 'warehouse', query: { manifest_id } });
    expect(loading.body['data'].counts).toMatchObject({ extra: 0, missing: 0 });
  });
});

describe('announcements of one number in two spellings', () => {
  test('are one: the second is refused, and names the first, which is received with the parcel', async () => {
    const number = newNumber('twice');
    const id = await announce(number.toLowerCase());
    expect(await sendAnnouncement(number.toUpperCase())).toMatchObject({
      status: 409,
      body: { code: 'duplicate_tracking_number', existing: { prealert_id: id } },
    });
    const { prealert_id } = (await receive(`*${number.toUpperCase()}*`)).body['data'];
    expect(prealert_id).toBe(id);
  });

  test('that an earlier release accepted are both received with the parcel', async () => {
    const number = newNumber('before');
    await announceAsBefore(number.toLowerCase());
    const second = await announce(number.toUpperCase());
    const { prealert_id } = (await receive(`*${number.toUpperCase()}*`)).body['data'];
    expect(prealert_id).toBe(second);
    const { rows } = await service.owner.query(
      'select status from prealerts where upper(tracking_number) = upper($1)',
      [number],
    );
    expect(rows).toEqual([{ status: 'received' }, { status: 'received' }]);
  });

  test('that only a scanner tells apart are one number: 409', async () => {
    const number = newNumber();
    await announce(number);
    const reply = await service.call('createPrealert', {
      as: 'iex',
      body: { user_code: 'IEX-1001', tracking_number: `]C1*${number}*\r`, vendor: 'Example' },
    });
    expect(reply.status).toBe(409);
  });
});

describe('ResolveScan states', () => {
  test('all claims with the names of the customers, and no owner, if two customers announced a number', async () => {
    const number = newNumber();
    const other = await otherCustomer();
    await announceAsBefore(number);
    await announce(` ${number.toLowerCase()}`, other);
    const shown = await resolve(number);
    expect(shown).toMatchObject({ next: 'review', owner: null, kind: 'parcel' });
    expect(shown.matches.prealerts).toMatchObject([
      { user_code: 'IEX-1001', first_name: expect.any(String), last_name: expect.any(String) },
      { user_code: other, first_name: expect.any(String) },
    ]);
    const { house_number } = (await receive(number)).body['data'];
    for (const scan of [number, house_number])
      expect(await resolve(scan)).toMatchObject({
        next: 'review',
        owner: { courier_id: DEMO.couriers.IEX, user_code: null, first_name: null },
        matches: { prealerts: [{}, {}] },
      });
  });

  test('no owner if another courier announced the number after 60 spellings of it', async () => {
    const number = newNumber('claimed');
    const spellings = Array.from({ length: 60 }, (_, n) =>
      Array.from(number, (letter, at) =>
        (n >> (at % 6)) & 1 ? letter.toUpperCase() : letter.toLowerCase(),
      ).join(''),
    );
    for (const spelling of new Set(spellings)) await announceAsBefore(spelling);
    await announce(number, 'HRB-2001');
    const shown = await resolve(number);
    expect(shown).toMatchObject({ next: 'review', owner: null });
    expect(shown.matches.prealerts).toHaveLength(50);
    expect((await receive(number)).body['data']).toMatchObject({ courier_id: null, flagged: true });
  });

  test('no owner of a package that two couriers announced', async () => {
    const number = newNumber();
    await announce(number);
    await announce(number, 'HRB-2001');
    expect(await resolve(number)).toMatchObject({ next: 'review', owner: null });
    await receive(number);
    expect(await resolve(number)).toMatchObject({
      next: 'review',
      owner: null,
      matches: { prealerts: [{}, {}] },
    });
  });

  test("the package's own owner, also by its house number", async () => {
    const number = newNumber();
    const { house_number } = (await receive(number, { user_code: 'IEX-1001' })).body['data'];
    await announce(number, await otherCustomer());
    for (const [scan, kind] of [
      [number, 'parcel'],
      [house_number, 'house_number'],
    ])
      expect(await resolve(scan ?? '')).toMatchObject({
        kind,
        owner: { user_code: 'IEX-1001', courier_id: DEMO.couriers.IEX, first_name: expect.any(String) },
        matches: { prealerts: [{}] },
      });
  });

  test('a manifest, a customer, and what nobody knows', async () => {
    const { body } = await service.call('createManifest', { as: 'warehouse', body: {} });
    expect(await resolve(body['data'].manifest_number)).toMatchObject({ kind: 'manifest', owner: null });
    expect(await resolve('IEX-1001')).toMatchObject({ kind: 'customer', owner: null });
    expect(await resolve(newNumber())).toMatchObject({ kind: 'unknown', owner: null });
    expect(await resolve('1Z5R89390357567127')).toMatchObject({ kind: 'parcel', owner: null });
  });

  test('to a courier no claim of a package whose number it sees masked', async () => {
    const number = newNumber();
    const { house_number, package_id } = (await receive(number, { courier_id: DEMO.couriers.IEX })).body[
      'data'
    ];
    await announce(number);
    const shown = await resolve(house_number, 'iex');
    expect(shown).toMatchObject({
      kind: 'house_number',
      matches: { packages: [{ package_id }], prealerts: [] },
    });
    expect(JSON.stringify(shown)).not.toContain(number);
  });
});

test('a package that earlier versions stored with noise is found by the same scan, and not changed by its own number', async () => {
  const number = newNumber();
  const { package_id } = (await receive(number)).body['data'];
  const noisy = `*${number}*`;
  await service.owner.query('update packages set tracking_number = $2, tracking_key = $2 where id = $1', [
    package_id,
    noisy,
  ]);
  expect((await receive(noisy)).body['data']).toMatchObject({ package_id, duplicate: true });
  const same = await service.call('updatePackage', {
    as: 'warehouse',
    body: { package_id, tracking_number: noisy },
  });
  expect(same.status).toBe(200);
  const { rows } = await service.owner.query('select tracking_number from packages where id = $1', [
    package_id,
  ]);
  expect(rows).toEqual([{ tracking_number: noisy }]);
});
