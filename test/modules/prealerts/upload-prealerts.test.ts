import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { type Call, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { multipart } from '../../support/fixture/sent.js';

const { api, service } = withService();
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

const HEADER = 'tracking_number,user_code,vendor,description,reference';

type Options = Call & { courier?: string; dryRun?: string };

function upload(file: string | Buffer, { courier, dryRun, ...call }: Options = {}) {
  const form = {
    file: { file },
    ...(courier === undefined ? {} : { target_courier_id: courier }),
    ...(dryRun === undefined ? {} : { dry_run: dryRun }),
  };
  return api.with({ as: 'iex', ...call }).uploadPrealerts(multipart(form));
}

const lines = (...rows: string[]) => [HEADER, ...rows, ''].join('\n');

const counts = (data: object) => ({
  status: 200,
  body: {
    data: {
      processed: 0,
      created: 0,
      duplicate: 0,
      repeated: 0,
      skipped: 0,
      duplicate_rows: [],
      dry_run: false,
      ...data,
    },
  },
});

const storedOf = (...numbers: string[]) =>
  parcels.select('select * from prealerts where tracking_number = any($1) order by tracking_number', [
    numbers,
  ]);

type RowError = { field: string; row?: number; code: string };
const errorsOf = ({ body }: Reply) =>
  ((body['errors'] ?? []) as RowError[]).map(({ field, row, code }) =>
    `${row ?? ''} ${field} ${code}`.trim(),
  );

async function expectRefused(file: string | Buffer, errors: string[], options: Options = {}): Promise<Reply> {
  const before = await fingerprint(service().owner);
  const reply = await upload(file, options).answer();
  expect([reply.status, errorsOf(reply)]).toEqual([400, errors]);
  expect(await fingerprint(service().owner)).toEqual(before);
  return reply;
}

describe('stored pre-alerts', () => {
  test("belong to the caller's courier, with audit entries by the user, and a second upload changes nothing", async () => {
    const [one, two] = [newNumber(), newNumber()];
    const file = lines(` ${one} ,IEX-1001,Shop,"Shoes, red",R-1`, `${two},IEX-1002,,,`);
    // A courier's target is ignored.
    const reply = await upload(file, { courier: DEMO.couriers.HRB }).answer();
    expect(reply).toMatchObject(counts({ processed: 2, created: 2 }));
    expect(reply.message).toBe('Rows processed: 2. Pre-alerts created: 2, duplicate: 0, repeated: 0.');
    const stored = await storedOf(one, two);
    expect(stored).toMatchObject([
      {
        courier_id: DEMO.couriers.IEX,
        user_code: 'IEX-1001',
        vendor: 'Shop',
        description: 'Shoes, red',
        reference: 'R-1',
      },
      { user_code: 'IEX-1002', vendor: null, description: null, reference: null, status: 'pending' },
    ]);
    const entries = await parcels.select(
      'select action, actor_kind, actor_id, after, remarks from audit_entries where entity_id = any($1)',
      [stored.map(({ id }) => id)],
    );
    expect(entries).toHaveLength(2);
    for (const entry of entries)
      expect(entry).toMatchObject({
        action: 'prealert.created',
        actor_kind: 'user',
        actor_id: DEMO.users.iex,
        remarks: 'upload',
      });
    expect(await upload(file).answer()).toMatchObject(
      counts({ processed: 2, duplicate: 2, duplicate_rows: [2, 3] }),
    );
    expect(await storedOf(one, two)).toEqual(stored);
  });

  test('the columns are found by name, in any order, spelling and separator, in all line ends', async () => {
    const [one, two, three] = [newNumber(), newNumber(), newNumber()];
    const file = `\ufeffMail-Box;Comment;Tracking Number;ITEMS\r\nIEX-1001;x;${one};Books\r\n\r\n;;;\rIEX-1001;x;${two};\r\nIEX-1001;;${one};Other`;
    expect(await upload(file).answer()).toMatchObject(
      counts({ processed: 3, created: 2, repeated: 1, skipped: 1, duplicate_rows: [6] }),
    );
    // The first of two rows with one number counts.
    expect(await storedOf(one)).toMatchObject([{ description: 'Books' }]);
    await upload(`code,tracking\nIEX-1001,${three}`).ok();
    expect(await storedOf(three)).toHaveLength(1);
  });

  test('staff upload for a courier, and the first status follows from the packages', async () => {
    const number = newNumber();
    await parcels.receive(number, { user_code: 'HRB-2001' });
    const file = lines(`${number},HRB-2001,,,`);
    const reply = await upload(file, { as: 'warehouse', courier: DEMO.couriers.HRB.toUpperCase() }).answer();
    expect(reply).toMatchObject(counts({ processed: 1, created: 1 }));
    expect(await storedOf(number)).toMatchObject([{ courier_id: DEMO.couriers.HRB, status: 'received' }]);
  });

  test('a dry run counts like an upload and stores nothing', async () => {
    const [old, fresh] = [newNumber(), newNumber()];
    await parcels.announce('IEX', old);
    const file = lines(`${old},IEX-1001,,,`, `${fresh},IEX-1001,,,`, `${fresh},IEX-1001,,,`);
    const result = { processed: 3, created: 1, duplicate: 1, repeated: 1, duplicate_rows: [2, 4] };
    const before = await fingerprint(service().owner);
    expect(await upload(file, { dryRun: 'true' }).answer()).toMatchObject(
      counts({ ...result, dry_run: true }),
    );
    expect(await fingerprint(service().owner)).toEqual(before);
    expect(await upload(file).answer()).toMatchObject(counts(result));
  });

  test('the same file with the same Idempotency-Key is stored once', async () => {
    const file = lines(`${newNumber()},IEX-1001,,,`);
    const headers = { 'idempotency-key': 'upload-prealerts' };
    const first = await upload(file, { headers }).answer();
    expect((await upload(file, { headers }).answer()).bytes).toEqual(first.bytes);
    expect(await upload(lines(`${newNumber()},IEX-1001,,,`), { headers }).answer()).toMatchObject({
      status: 409,
    });
  });
});

describe('refused files', () => {
  test('every invalid cell is named, and nothing is stored', async () => {
    const reply = await expectRefused(
      lines(`${newNumber()},IEX-1001,,,`, ',IEX-1001,,,', `${'x'.repeat(256)},,,,`, `A,IEX-1001,"a\nb",,`),
      ['3 tracking_number blank', '4 tracking_number maxLength', '4 user_code blank', '5 vendor pattern'],
    );
    expect(reply.body['message']).toBe('Nothing was stored. Correct the cells named in errors. There are 4.');
  });

  test("unknown, inactive and sibling couriers' customers are named alike", async () => {
    const rows = ['NOBODY', 'IEX-1200', 'HRB-2001'].map((code) => `${newNumber()},${code},,,`);
    const file = lines(`${newNumber()},IEX-1001,,,`, ...rows);
    const expected = ['3 user_code unknown', '4 user_code unknown', '5 user_code unknown'];
    await expectRefused(file, expected);
    await expectRefused(file, expected, { dryRun: '1' });
    // Staff see the customers of all couriers of the tenant, so here only the statement keeps them apart.
    for (const code of ['HRB-2001', 'TWO-3001'])
      await expectRefused(lines(`${newNumber()},${code},,,`), ['2 user_code unknown'], {
        as: 'admin',
        courier: DEMO.couriers.IEX,
      });
  });

  test('a file without the columns, without rows of text, or with too many rows is refused', async () => {
    await expectRefused('user_code,vendor\nIEX-1001,x', ['file required']);
    await expectRefused('tracking_number,Tracking,user_code\nA,B,IEX-1001', ['file repeated']);
    await expectRefused('', ['file minLength']);
    await expectRefused('{"a":1}', ['file format']);
    await expectRefused(Buffer.from([...Buffer.from(`${HEADER}\nA,`), 0x81]), ['file encoding']);
    await expectRefused(`${HEADER}\n${'A,IEX-1001\n'.repeat(10_001)}`, ['file maxItems']);
  });

  test('one number for two customers is an error that names both rows', async () => {
    const number = newNumber();
    const reply = await expectRefused(
      lines(`${number},IEX-1001,,,`, `${number},IEX-1001,,,`, `${number},IEX-1002,,,`),
      ['4 tracking_number repeated'],
    );
    expect(reply.body['errors'][0].message).toBe(
      'Row 4: tracking_number is also in row 2, for the customer IEX-1001. A parcel has one customer. Correct one of the two rows.',
    );
  });

  test('numbers that a spreadsheet has damaged are refused with the row and the cure', async () => {
    const damaged = [
      '9.40011E+21',
      '"9,4E+21"',
      '1E+12',
      '6.12206E+11',
      '#####',
      '#N/A',
      "'00123",
      '="00123"',
      '3-Jan',
      'UPS 9.4E+21',
      '1.23457E+11 x',
    ];
    const reply = await expectRefused(
      lines(...damaged.map((number) => `${number},IEX-1001,,,`), `${newNumber()},1.23457E+11,,,`),
      [
        ...damaged.map((_, n) => `${n + 2} tracking_number pattern`),
        `${damaged.length + 2} user_code pattern`,
      ],
    );
    for (const { message } of reply.body['errors']) expect(message).toContain('ormat the column as text');
  });

  test('a number whose last digits a spreadsheet has replaced by zeros gets a warning', async () => {
    const reply = await upload(lines('9400111899223100000000,IEX-1001,,,'), { dryRun: 'true' }).ok();
    expect(reply.data).toMatchObject({
      created: 1,
      warnings: [{ code: 'number_rounded', rows: [2] }],
    });
  });

  test.each([
    ['all end with zeros', ['340434112345678000', '340434112345678000', '340434112345679000'], [2, 3, 4]],
    ['most end with zeros', ['340434112345678000', '340434112345679000', '340434112345679124'], [2, 3]],
    ['one ends with zeros', ['340434112345678000', '8412345678901234'], []],
    [
      'few end with zeros',
      ['340434112345678000', '34043411234567100', '8412345678901234', '8412345678901235'],
      [],
    ],
    ['all are short', ['123456789012000', '123456789013000'], []],
  ])('numbers of up to 18 digits, of which %s: the rows with a warning', async (_name, numbers, rows) => {
    const reply = await upload(lines(...numbers.map((number) => `${number},IEX-1001,,,`)), {
      dryRun: 'true',
    }).ok();
    expect(reply.data.warnings).toEqual(
      rows.length > 0 ? [expect.objectContaining({ code: 'number_rounded', rows })] : [],
    );
  });

  test('staff must name a courier of the tenant', async () => {
    const file = lines(`${newNumber()},IEX-1001,,,`);
    await expectRefused(file, ['target_courier_id required'], { as: 'admin' });
    await expectRefused(file, ['target_courier_id invalid'], { as: 'admin', courier: 'x' });
    for (const courier of [DEMO.couriers.TWO, '01930a3e-0000-7000-8000-000000000000'])
      expect(await upload(file, { as: 'admin', courier }).answer()).toMatchObject({
        status: 404,
        body: { code: 'courier_not_found' },
      });
  });

  test('anonymous callers and API keys are refused', async () => {
    const form = { file: { file: lines() } };
    expect(await api.anonymous.uploadPrealerts(multipart(form)).status()).toBe(401);
    expect(await api.withKey(DEMO.apiKeys.IEX).uploadPrealerts(multipart(form)).status()).toBe(401);
  });
});

test('10,000 rows are stored at once', async () => {
  const rows = Array.from({ length: 10_000 }, () => `${newNumber()},IEX-1001,Shop,${'d'.repeat(100)},R`);
  expect(await upload(lines(...rows)).answer()).toMatchObject(counts({ processed: 10_000, created: 10_000 }));
  const { rows: tallies } = await service().owner.query(
    'select (select count(*)::int from prealerts) as stored, (select sum(total)::int from prealert_tallies) as tallied',
  );
  expect(tallies[0].tallied).toBe(tallies[0].stored);
}, 60_000);

test('a file of blank rows is refused, and the message names what was expected', async () => {
  const before = await fingerprint(service().owner);
  const reply = await upload(lines(',,,,', ' , ,,,')).answer();
  expect([reply.status, errorsOf(reply)]).toEqual([400, ['file format']]);
  expect(JSON.stringify(reply.errors)).toContain('tracking_number, user_code');
  expect(await fingerprint(service().owner)).toEqual(before);
});
