import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import Papa from 'papaparse';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { harmless } from '../../../src/platform/files/csv.js';
import { HEADINGS } from '../../../src/modules/packages/export/cells.js';
import { newHouseNumber } from '../../../src/modules/packages/intake/house-number.js';
import { makeWorkbookWriter } from '../../../src/modules/packages/export/spreadsheet.js';
import { askSteadily } from '../../support/service/client.js';
import { insertWithoutTriggers } from '../../support/builders/many-rows.js';
import { rounds } from '../../support/harness/effort.js';
import { until } from '../../support/service/processes.js';
import { longestBlockMs } from '../../support/harness/event-loop-block.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { readWorkbook } from '../../support/readers/workbook.js';
import { matching } from '../../support/assertions/matching.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX, HRB } = DEMO.couriers;
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const FORMATS = ['csv', 'xlsx'] as const;
type Format = (typeof FORMATS)[number];
const PLAIN = { csv: 'exportPackagesCsv', xlsx: 'exportPackagesXlsx' } as const;

const { api, service } = withService();

const exported = (as: string, export_format: Format, filters: object = {}) =>
  api.as(as).listPackages({ export: true, export_format, ...filters });

const listed = async (as: string, filters: object = {}) =>
  (await api.as(as).listPackages(filters).ok()).data as Record<string, unknown>[];

/** Returns the file's rows as another program reads them, headings first and every cell as text. */
function linesOf(reply: Reply, format: Format): string[][] {
  expect(reply.status).toBe(200);
  const bytes = reply.body['bytes'] as Buffer;
  if (format === 'xlsx')
    return readWorkbook(bytes).map((row) => Array.from(row, (cell) => cell?.value ?? ''));
  const { data, errors } = Papa.parse<string[]>(bytes.toString(), { newline: '\r\n', delimiter: ',' });
  expect(errors).toEqual([]);
  // The last line ends with a line break too.
  expect(data.pop()).toEqual(['']);
  return data;
}

let serial = 0;

/** Inserts directly, because intake would reject most of these values. */
async function addPackage(row: Record<string, unknown>): Promise<string> {
  const id = randomUUID();
  const full = {
    tenant_id: DEMO.tenants.demo,
    id,
    house_number: newHouseNumber(),
    status: 'received',
    weight_lb: 1,
    tracking_number: `EXPORT-${(serial += 1)}`,
    warehouse_id: DEMO.warehouses.primary,
    received_at: '2023-01-01T12:00:00Z',
    updated_at: '2023-01-01T12:00:00Z',
    ...row,
  };
  await service().owner.query(
    'insert into packages select * from jsonb_populate_record(null::packages, $1)',
    [JSON.stringify({ tracking_key: full.tracking_number, ...full })],
  );
  return id;
}

describe.each(FORMATS)('package export as %s', (format) => {
  test('is the same file from the operation with one media type', async () => {
    const filters = { entryDateFloor: '2020-01-01', page: 2, limit: 20 };
    for (const as of ['admin', 'iex']) {
      const plain = await service().call(PLAIN[format], { as, query: filters });
      expect(linesOf(plain, format)).toEqual(linesOf(await exported(as, format, filters).answer(), format));
      expect(plain.headers.get('content-disposition')).toMatch(
        new RegExp(`^attachment; filename="packages-\\d{8}-\\d{6}\\.${format}"$`),
      );
    }
    expect((await service().call(PLAIN[format], {})).status).toBe(401);
    expect(await service().call(PLAIN[format], { as: 'iex', query: { limit: 10_001 } })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'limit' }] },
    });
  });

  test("has the contract's columns and the rows of the list", async () => {
    const filters = { courierID: IEX, limit: 200 };
    const [heading, ...lines] = linesOf(await exported('admin', format, filters).answer(), format);
    expect(heading).toEqual([...HEADINGS]);
    const records = await listed('admin', filters);
    expect(records).toHaveLength(200);
    // The contract allows only these types in these fields.
    const text = (value: unknown) => String((value as string | number | null) ?? '');
    expect(lines).toEqual(
      records.map((record) => [
        ...[record['user_code'], record['package_id'], record['tracking_number'], record['house_number']].map(
          text,
        ),
        ...[record['first_name'], record['last_name'], record['courier_name']].map(text),
        'IEX',
        ...[record['carrier_name'], record['shipper'], record['weight'], record['status']].map(text),
        ...[record['manifest_number'], record['entry_date_time']].map(text),
      ]),
    );
  });

  test('is an attachment of its media type with the UTC time in its name', async () => {
    const before = new Date();
    const { headers, bytes } = await exported('manager', format).ok();
    expect(headers.get('content-type')).toBe(format === 'csv' ? 'text/csv; charset=utf-8' : XLSX);
    const [, stamp] =
      /^attachment; filename="packages-(\d{8}-\d{6})\.\w+"$/.exec(headers.get('content-disposition') ?? '') ??
      [];
    const at = stamp?.replace(/(....)(..)(..)-(..)(..)(..)/, '$1-$2-$3T$4:$5:$6Z') ?? '';
    expect(Math.abs(new Date(at).getTime() - before.getTime())).toBeLessThan(30_000);
    expect(headers.get('content-disposition')).toMatch(new RegExp(`\\.${format}"$`));
    expect(headers.get('content-length')).toBe(String(bytes.length));
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('returns the first 25 rows by default and pages like the list', async () => {
    const idsOf = async (filters: object) =>
      linesOf(await exported('admin', format, filters).answer(), format)
        .slice(1)
        .map((line) => line[1]);
    const all = (await listed('admin', { limit: 10_000 })).map((record) => record['package_id']);
    expect(await idsOf({})).toEqual(all.slice(0, 25));
    expect(await idsOf({ page: 3, limit: 40 })).toEqual(all.slice(80, 120));
    expect(await idsOf({ limit: 10_000 })).toEqual(all);
    expect(await idsOf({ page: 1_000_000, limit: 10_000 })).toEqual([]);
  });

  test("contains only the courier's own packages, with tracking numbers masked like in the list", async () => {
    const [, ...lines] = linesOf(
      await exported('iex', format, { limit: 10_000, courierID: HRB }).answer(),
      format,
    );
    const { rows } = await service().owner.query<Record<string, string | null>>(
      'select id, tracking_number, user_code from packages where courier_id = $1',
      [IEX],
    );
    const shown = new Map(lines.map((line) => [line[1], line[2]]));
    expect([...shown.keys()].sort()).toEqual(rows.map(({ id }) => id).sort());
    const hidden = rows.filter(({ user_code }) => user_code === null);
    expect(hidden.length).toBeGreaterThan(1);
    for (const { id, tracking_number } of hidden) {
      expect(shown.get(id ?? '')).toBe(tracking_number?.replace(/.(?=.{4})/g, '*'));
    }
    expect(new Set(lines.map((line) => line[7]))).toEqual(new Set(['IEX']));
  });

  test('applies every filter of the list', async () => {
    const [record] = await listed('admin', { userCode: 'IEX-1001' });
    const filters = [
      { userCode: 'IEX-1001' },
      { houseNumber: record?.['house_number'] },
      { shipper: 'a' },
      { courierID: HRB },
      { entryDateFloor: '2026-11-01', entryDateCeiling: '2026-11-10' },
      { firstName: 'an' },
      { trackingNumber: '9' },
    ];
    for (const filter of filters) {
      const lines = linesOf(
        await exported('admin', format, { ...filter, limit: 10_000 }).answer(),
        format,
      ).slice(1);
      const records = await listed('admin', { ...filter, limit: 10_000 });
      expect(lines.map((line) => line[1])).toEqual(records.map((each) => each['package_id']));
    }
  });

  test('keeps text that looks like a number as text', async () => {
    const numbers = ['00123', '9400111899223100001234', '1E5', '3-4', '2026-11-21', 'TRUE', '0x1F'];
    for (const tracking_number of numbers) {
      const key = `${format} ${tracking_number}`;
      await addPackage({ tracking_number, tracking_key: key, shipper: `Digits ${format}`, weight_lb: 4.25 });
    }
    const reply = await exported('admin', format, { shipper: `Digits ${format}` }).answer();
    expect(
      linesOf(reply, format)
        .slice(1)
        .map((line) => line[2])
        .sort(),
    ).toEqual([...numbers].sort());
    if (format === 'csv') return;
    for (const row of readWorkbook(reply.bytes).slice(1)) {
      expect(row.map((cell) => cell?.type ?? 'none').filter((type) => type !== 'none')).toEqual(
        row.flatMap((cell, index) => (cell ? [index === 10 ? 'number' : 'text'] : [])),
      );
      expect(row[10]).toEqual({ type: 'number', value: '4.25' });
    }
  });

  test('keeps commas, quotes, line breaks, emoji and control characters', async () => {
    const texts = [
      'a,b',
      'say "x"',
      'two\nlines',
      'two\r\nlines',
      'tab\there',
      ' spaced ',
      'Ünï 📦',
      'a;b|c',
      '"',
    ];
    texts.push('bell\u0007', '_x0041_', '<b>&amp;', ']]>', 'nbsp\u00a0', 'bom\ufeff', '\u202eabc');
    for (const first_name of texts) await addPackage({ first_name, shipper: `Awkward ${format}` });
    const lines = linesOf(
      await exported('admin', format, { shipper: `Awkward ${format}` }).answer(),
      format,
    ).slice(1);
    // A program whose list separator is the semicolon begins a cell after it, here with the quote that ends this one.
    const kept = texts.map((text) => (format === 'csv' && text.endsWith(';') ? `${text}'` : text));
    expect(lines.map((line) => line[4]).sort()).toEqual(kept.sort());
    expect(new Set(lines.map((line) => line.length))).toEqual(new Set([14]));
  });
});

test("a CSV file begins with its first column's name and ends every line with CRLF", async () => {
  const { body } = await exported('admin', 'csv').answer();
  const bytes = body['bytes'] as Buffer;
  expect(bytes.toString('latin1', 0, 10)).toBe('User Code,');
  expect(bytes.toString().split('\r\n')).toHaveLength(27);
  expect(bytes.toString().replaceAll('\r\n', '')).not.toMatch(matching(/[\r\n]/, '\r', '\n'));
});

test('CSV is the default format', async () => {
  const reply = await api.as('admin').listPackages({ export: true }).answer();
  expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
});

test('without export or with false, the response is JSON without a file name', async () => {
  for (const body of [{}, { export: false }, { export: false, export_format: 'xlsx' }]) {
    const reply = await api.as('admin').listPackages(unchecked(body)).answer();
    expect(reply.headers.get('content-type')).toContain('application/json');
    expect(reply.headers.get('content-disposition')).toBeNull();
  }
});

test.each([
  [{ export: 'true' }, 'export'],
  [{ export: 1 }, 'export'],
  [{ export: true, export_format: 'pdf' }, 'export_format'],
  [{ export: true, export_format: 'CSV' }, 'export_format'],
  [{ export: true, limit: 10_001 }, 'limit'],
  [{ export: true, action: 'queue_dispatch' }, 'export'],
])('rejects %j with 400 and names the field', async (body, field) => {
  const reply = await api.as('admin').listPackages(unchecked(body)).answer();
  expect(reply).toMatchObject({ status: 400, body: { code: 'validation_failed', errors: [{ field }] } });
});

test('denies exports to anonymous callers and disabled accounts', async () => {
  const body = { export: true };
  expect(await api.anonymous.listPackages(body).answer()).toMatchObject({ status: 401 });
  expect(await api.as('disabled').listPackages(body).answer()).toMatchObject({ status: 403 });
});

describe('formula injection', () => {
  const ATTACKS = ['1+1', 'cmd|" /C calc"!A0', 'HYPERLINK("http://x.example","Click")', 'SUM(A1:A9)'];
  const PAYLOADS = [
    ...['=', '+', '-', '@'].flatMap((sign) => ATTACKS.map((attack) => sign + attack)),
    ...['\t', '\r', '\n', '\r\n', ' ', '   ', '\u00a0', '\u3000', '\u200b', '\ufeff'].flatMap((space) =>
      ['=', '+', '-', '@'].map((sign) => `${space}${sign}1+1`),
    ),
    ...['＝', '＋', '－', '＠'].map((sign) => `${sign}1+1`),
    '\tx',
    '\rx',
    '\nx',
    "=1+1'",
    '"=1+1"'.slice(1),
    '+44 20 7946 0000',
    '-5',
    '@import',
    '=',
    '-',
  ];

  test('covers at least 60 formula payloads', () => {
    expect(PAYLOADS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(PAYLOADS).size).toBe(PAYLOADS.length);
  });

  /** An independent check: after white space and invisible characters, no cell may start a formula. */
  function isHarmless(cell: string): boolean {
    const first = [...cell].find((character) => {
      const code = character.codePointAt(0) ?? 0;
      const isInvisible = code <= 0x20 || [0xa0, 0x3000, 0x200b, 0xfeff].includes(code);
      return !isInvisible;
    });
    return !'=+-@＝＋－＠'.includes(first ?? 'none') && !/^[\t\r\n\0]/.test(cell);
  }

  beforeAll(async () => {
    const { owner } = service();
    // Drop the constraints that would keep most payloads out of some columns.
    await owner.query(`alter table manifests drop constraint number_is_well_formed;
      alter table packages drop constraint status_is_known, drop constraint tracking_number_is_trimmed;
      drop index carriers_one_of_a_name`);
    for (const [index, payload] of PAYLOADS.entries()) {
      const made = { courier: randomUUID(), carrier: randomUUID(), manifest: randomUUID() };
      const tenant = DEMO.tenants.demo;
      await owner.query('insert into couriers (tenant_id, id, code, name) values ($1, $2, $3, $3)', [
        tenant,
        made.courier,
        payload,
      ]);
      await owner.query('insert into carriers (tenant_id, id, name) values ($1, $2, $3)', [
        tenant,
        made.carrier,
        payload,
      ]);
      await owner.query(
        'insert into manifests (tenant_id, id, manifest_number, warehouse_id) values ($1, $2, $3, $4)',
        [tenant, made.manifest, payload, DEMO.warehouses.primary],
      );
      await addPackage({
        user_code: payload,
        first_name: payload,
        last_name: payload,
        shipper: payload,
        status: payload,
        tracking_number: payload,
        tracking_key: `attack-${index}`,
        house_number: payload,
        courier_id: made.courier,
        carrier_id: made.carrier,
        manifest_id: made.manifest,
        weight_lb: 7.5,
        received_at: '2022-02-02T00:00:00Z',
      });
    }
  }, 60_000);

  test.each(FORMATS)(
    'no cell of a %s starts a formula, and the stored text stays readable',
    async (format) => {
      const days = { entryDateFloor: '2022-02-02', entryDateCeiling: '2022-02-02' };
      const [, ...lines] = linesOf(
        await exported('admin', format, { limit: 10_000, ...days }).answer(),
        format,
      );
      expect(lines).toHaveLength(PAYLOADS.length);
      const found = new Set<string>();
      for (const line of lines) {
        expect(line).toHaveLength(14);
        expect(line.filter((cell) => !isHarmless(cell))).toEqual([]);
        expect(line[10]).toBe('7.5');
        const escaped = line[0]?.slice(1) ?? '';
        // Every column except the id, the weight and the date.
        for (const index of [0, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12]) expect(line[index]).toBe(`'${escaped}`);
        // A program with another separator begins a cell behind a tab or a line break.
        found.add(escaped.replace(/(?<=[\t\r\n])'/g, ''));
      }
      expect(found).toEqual(new Set(PAYLOADS));
    },
  );

  test('text without a formula is unchanged', () => {
    for (const text of [
      '',
      'x',
      'a=b',
      '5-6',
      'x@y.example',
      '1Z999AA10123456784',
      '*****1234',
      "'=1",
      '…',
      '(=)',
    ])
      expect(harmless(text)).toBe(text);
  });

  test('detects formulas behind a NUL, which the database cannot store', () => {
    expect(harmless('\0=1')).toBe("'\0=1");
    expect(harmless('\0x')).toBe("'\0x");
  });
});

describe('export of 10,000 rows', () => {
  beforeAll(async () => {
    await insertWithoutTriggers(
      service().owner,
      `insert into packages (tenant_id, id, courier_id, user_code, first_name, last_name, tracking_number, tracking_key,
         house_number, weight_lb, shipper, warehouse_id, received_at)
       select $1, gen_random_uuid(), $2, 'IEX-1001', 'Marcia', 'Campbell', '94001118992231' || n, 'bulk' || n, 'B' || n,
         1 + n % 4000 / 100.0, 'Example Books', $3, '2021-01-01T00:00:00Z'::timestamptz + n * interval '1 second'
       from generate_series(1, 10000) n`,
      [DEMO.tenants.demo, IEX, DEMO.warehouses.primary],
    );
    await service().owner.query('analyze packages');
  }, 60_000);

  const AT_ONCE = rounds(2, 10);
  const BULK = { limit: 10_000, entryDateFloor: '2021-01-01', entryDateCeiling: '2021-01-02' };

  test.each(FORMATS)(
    'is complete and in order as %s',
    async (format) => {
      const { bytes } = await exported('admin', format, BULK).ok();
      if (format === 'csv') {
        const lines = bytes.toString().split('\r\n');
        expect(lines).toHaveLength(10_002);
        expect([lines[1], lines[10_000]].map((line) => line?.split(',')[2])).toEqual([
          '9400111899223110000',
          '940011189922311',
        ]);
      } else {
        expect(bytes.length).toBeGreaterThan(500_000);
        const rows = readWorkbook(bytes);
        expect(rows).toHaveLength(10_001);
        expect([rows[1]?.[2]?.value, rows[10_000]?.[2]?.value]).toEqual([
          '9400111899223110000',
          '940011189922311',
        ]);
      }
    },
    60_000,
  );

  test.each(FORMATS)(
    `keeps the service responsive during ${AT_ONCE} simultaneous %s exports`,
    async (format) => {
      await service().tokenOf('admin');
      let isOver = false;
      const waits: number[] = [];
      const polling = askSteadily(
        50,
        () => isOver,
        async () => {
          const startMs = performance.now();
          expect(await api.anonymous.getHealth().status()).toBe(200);
          waits.push(performance.now() - startMs);
        },
      );
      const replies: Reply[] = [];
      // Counts only work of this thread, including the test's own reading of the files, and no other load.
      const blockedMs = await longestBlockMs(async () => {
        replies.push(
          ...(await Promise.all(
            Array.from({ length: AT_ONCE }, () =>
              untilAdmitted(() => exported('admin', format, BULK).answer()),
            ),
          )),
        );
      });
      isOver = true;
      await polling;
      expect(replies.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200));
      expect(new Set(replies.map(({ bytes }) => bytes.length > 500_000))).toEqual(new Set([true]));
      expect(blockedMs).toBeLessThan(200);
      expect(Math.max(...waits)).toBeLessThan(1_500);
    },
    120_000,
  );

  test('responds to each of 40 simultaneous exports with a file or with 503 and Retry-After, and serves later ones', async () => {
    const refused: Reply[] = [];
    // Keeps the first exports running until all have arrived.
    const holder = await service().owner.connect();
    try {
      await holder.query('begin; lock table packages in access exclusive mode');
      const replies = Array.from({ length: 40 }, async () => {
        const reply = await exported('admin', 'xlsx').answer();
        if (reply.status === 503) refused.push(reply);
        return reply.status;
      });
      // One export of the user runs and 32 wait.
      await until(async () => refused.length >= 7);
      await holder.query('rollback');
      const served = (await Promise.all(replies)).filter((status) => status === 200);
      expect(served.length).toBeGreaterThanOrEqual(2);
      expect(served).toHaveLength(40 - refused.length);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    for (const { body, headers } of refused) {
      expect(body['code']).toBe('overloaded');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await exported('admin', 'xlsx').status()).toBe(200);
  }, 60_000);
});

test('the workbook writer survives a workbook that cannot be written', async () => {
  const writeWorkbook = makeWorkbookWriter();
  // Longer than a cell may be.
  await expect(writeWorkbook([], [1], () => ['x'.repeat(40_000)])).rejects.toThrow(/32767/);
  const books = await Promise.all(
    ['a', 'b', 'c'].map((text) => writeWorkbook(['Text'], [text], (cell) => [cell])),
  );
  expect(books.map((bytes) => readWorkbook(bytes)[1]?.[0]?.value)).toEqual(['a', 'b', 'c']);
  expect(readWorkbook(await writeWorkbook(['Text'], [], () => []))).toHaveLength(1);
});
