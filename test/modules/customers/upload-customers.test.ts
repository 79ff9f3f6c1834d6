import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import Papa from 'papaparse';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import type { FormFile } from '../../support/service/forms.js';
import { type Call, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { multipart } from '../../support/fixture/sent.js';

const { api, service } = withService();

beforeEach(async () => {
  await service().owner.query(
    "delete from customers where user_code not similar to '(IEX|HRB|TWO)-[0-9]{4}'",
  );
});

const HEADER = 'user_code,first_name,last_name,branch';

type Options = Call & { courier?: string; dryRun?: string; type?: string; name?: string };

function upload(file: string | Buffer, { courier, dryRun, type, name, ...call }: Options = {}) {
  const field: FormFile = { file, ...(type ? { type } : {}), ...(name ? { name } : {}) };
  const form = {
    file: field,
    ...(courier === undefined ? {} : { target_courier_id: courier }),
    ...(dryRun === undefined ? {} : { dry_run: dryRun }),
  };
  return api.with({ as: 'iex', ...call }).uploadCustomers(multipart(form));
}

const lines = (...rows: string[]) => [HEADER, ...rows, ''].join('\n');

type Customer = {
  id: string;
  courier_id: string;
  user_code: string;
  first_name: string;
  last_name: string;
  branch: string | null;
  email: string | null;
  is_active: boolean;
  created_at: Date;
  updated_at: Date;
};

async function customersOf(...codes: string[]): Promise<Customer[]> {
  const { rows } = await service().owner.query<Customer>(
    'select * from customers where user_code = any($1) order by user_code, courier_id',
    [codes],
  );
  return rows;
}

/** Returns the expected response. Counts that are not given are zero. */
const counts = (data: Record<string, number | boolean>) => ({
  status: 200,
  body: {
    status: 'success',
    data: {
      processed: 0,
      created: 0,
      updated: 0,
      unchanged: 0,
      repeated: 0,
      skipped: 0,
      dry_run: false,
      ...data,
    },
  },
});

type RowError = { field: string; row?: number; code: string };
const errorsOf = ({ body }: Reply) =>
  ((body['errors'] ?? []) as RowError[]).map(({ field, row, code }) =>
    `${row ?? ''} ${field} ${code}`.trim(),
  );

async function expectRefused(file: string | Buffer, errors: string[], options: Options = {}): Promise<Reply> {
  const before = await fingerprint(service().owner);
  const reply = await upload(file, options).answer();
  expect([reply.status, reply.body['status'], errorsOf(reply)]).toEqual([400, 'fail', errors]);
  expect(await fingerprint(service().owner)).toEqual(before);
  return reply;
}

describe('stored customers', () => {
  test("creates and updates the courier's customers and skips the header, whatever it contains", async () => {
    const [before] = await customersOf('IEX-1001');
    const reply = await upload(
      'IEX-9999,Not,A Customer\nIEX-1001,New,Name,Elsewhere\nNEW-1,Ann,Lee,Kingston\n',
    ).answer();
    expect(reply).toMatchObject(counts({ processed: 2, created: 1, updated: 1 }));
    expect(reply.message).toBe('Rows processed: 2. Customers created: 1, updated: 1, unchanged: 0.');
    const [changed, created] = await customersOf('IEX-1001', 'NEW-1');
    expect(changed).toEqual({
      ...before,
      first_name: 'New',
      last_name: 'Name',
      branch: 'Elsewhere',
      updated_at: expect.any(Date),
    });
    expect(Number(changed?.updated_at)).toBeGreaterThan(Number(before?.updated_at));
    expect(created).toMatchObject({
      courier_id: DEMO.couriers.IEX,
      first_name: 'Ann',
      last_name: 'Lee',
      branch: 'Kingston',
      email: null,
      is_active: true,
    });
    // A UUIDv7 like all ids.
    expect(created?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await customersOf('IEX-9999')).toEqual([]);
  });

  test('keeps the email, status and creation time of an existing customer', async () => {
    const [before] = await customersOf('IEX-1200');
    expect(before?.is_active).toBe(false);
    expect(await upload(lines('IEX-1200,Other,Person')).answer()).toMatchObject(
      counts({ processed: 1, updated: 1 }),
    );
    const [after] = await customersOf('IEX-1200');
    for (const column of ['id', 'email', 'is_active', 'created_at', 'branch'] as const)
      expect([column, after?.[column]]).toEqual([column, before?.[column]]);
  });

  test('counts an equal customer as unchanged and does not write it', async () => {
    const file = lines('SAME-1,Ann,Lee,Kingston', 'SAME-2,Ben,Roy,');
    expect(await upload(file).answer()).toMatchObject(counts({ processed: 2, created: 2 }));
    const before = await fingerprint(service().owner);
    expect(await upload(file).answer()).toMatchObject(counts({ processed: 2, unchanged: 2 }));
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('clears the branch if blank and keeps it if the column is missing', async () => {
    await upload(lines('BR-1,Ann,Lee,Kingston', 'BR-2,Ann,Lee,Kingston', 'BR-3,Ann,Lee,Kingston')).ok();
    const reply = await upload(lines('BR-1,Ann,Lee,', 'BR-2,Ann,Lee', 'BR-3,Bea,Lee')).answer();
    expect(reply).toMatchObject(counts({ processed: 3, updated: 2, unchanged: 1 }));
    const branches = (await customersOf('BR-1', 'BR-2', 'BR-3')).map(({ branch }) => branch);
    expect(branches).toEqual([null, 'Kingston', 'Kingston']);
  });

  test('uses the whole last row of a repeated user code', async () => {
    const reply = await upload(lines('TWICE,First,Row,Kingston', 'ONCE,A,B', 'TWICE,Last,Row')).answer();
    expect(reply).toMatchObject(counts({ processed: 3, created: 2, repeated: 1 }));
    expect(await customersOf('TWICE')).toMatchObject([
      { first_name: 'Last', last_name: 'Row', branch: null },
    ]);
  });

  test('skips and counts rows with fewer than three columns, but not empty lines', async () => {
    const file = `${HEADER}\n\nSHORT\nSHORT,Two\n,\n\nFULL-1,Ann,Lee\n   \n\n`;
    expect(await upload(file).answer()).toMatchObject(counts({ processed: 1, created: 1, skipped: 4 }));
    expect(await customersOf('SHORT')).toEqual([]);
  });

  test('ignores columns beyond the fourth', async () => {
    const reply = await upload(
      `${HEADER},x\nWIDE-1,Ann,Lee,Kingston,a@b.example,0,"line\nbreak",${'x'.repeat(5000)}\n`,
    ).answer();
    expect(reply).toMatchObject(counts({ processed: 1, created: 1 }));
    expect(await customersOf('WIDE-1')).toMatchObject([{ email: null, is_active: true }]);
  });

  test('trims white space around cells but not inside, and compares codes with case', async () => {
    const reply = await upload(lines(' PAD-1 ,\tMary  Ann , Lee\u00a0,  ', 'pad-1,a,b')).answer();
    expect(reply).toMatchObject(counts({ processed: 2, created: 2 }));
    expect(await customersOf('PAD-1')).toMatchObject([
      { first_name: 'Mary  Ann', last_name: 'Lee', branch: null },
    ]);
    expect(await customersOf('pad-1')).toHaveLength(1);
  });

  test('stores formulas as text', async () => {
    const cells = [
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '%00',
      "' or 1=1 --",
      '{{7*7}}',
      '../../etc',
      'null',
      'leave',
      '\\N',
    ];
    const rows = cells.map((cell, n) => `CELL-${n},"${cell}","${cell}","${cell}"`);
    expect(await upload(lines(...rows)).answer()).toMatchObject(
      counts({ processed: cells.length, created: cells.length }),
    );
    const stored = await customersOf(...cells.map((_, n) => `CELL-${n}`));
    const byCode = new Map(stored.map((row) => [row.user_code, row]));
    for (const [n, cell] of cells.entries())
      expect(byCode.get(`CELL-${n}`)).toMatchObject({ first_name: cell, last_name: cell, branch: cell });
  });

  test('stores codes that are names of JavaScript object properties', async () => {
    const codes = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    expect(await upload(lines(...codes.map((code) => `${code},a,b`))).answer()).toMatchObject(
      counts({ processed: 4, created: 4 }),
    );
    expect(await customersOf(...codes)).toHaveLength(4);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  test('accepts 100 characters, counted in code points', async () => {
    const [code, name] = ['c'.repeat(100), '😀'.repeat(100)];
    expect(await upload(lines(`${code},${name},${name},${name}`)).answer()).toMatchObject(
      counts({ processed: 1, created: 1 }),
    );
    expect(await customersOf(code)).toMatchObject([{ first_name: name, last_name: name, branch: name }]);
  });
});

describe('file formats', () => {
  const ROWS = [
    'user_code,first_name,last_name,branch',
    'WAY-1,"Lee, Ann","He said ""hi""",Kingston',
    'WAY-2,José,Ñandú,',
  ];
  const EXPECTED = [
    { user_code: 'WAY-1', first_name: 'Lee, Ann', last_name: 'He said "hi"', branch: 'Kingston' },
    { user_code: 'WAY-2', first_name: 'José', last_name: 'Ñandú', branch: null },
  ];

  test.each([
    ['LF', ROWS.join('\n')],
    ['LF at the end', `${ROWS.join('\n')}\n`],
    ['CR LF', `${ROWS.join('\r\n')}\r\n`],
    ['CR', `${ROWS.join('\r')}\r`],
    ['CR LF and LF mixed', `${ROWS[0]}\r\n${ROWS[1]}\n${ROWS[2]}\r\n`],
    ['a byte order mark', `\ufeff${ROWS.join('\r\n')}`],
    [
      'semicolons',
      'user_code;first_name;last_name;branch\nWAY-1;Lee, Ann;"He said ""hi""";Kingston\nWAY-2;José;Ñandú;\n',
    ],
    ['a header with a line break in it', `"user\r\ncode",${ROWS.join('\n').slice('user_code,'.length)}`],
    ['a header in another language', ROWS.join('\n').replace('user_code', 'Kundennummer äöü')],
  ])('accepts %s', async (_name, file) => {
    expect(await upload(file).answer()).toMatchObject(counts({ processed: 2, created: 2 }));
    expect(await customersOf('WAY-1', 'WAY-2')).toMatchObject(EXPECTED);
  });

  test('accepts a file with only a header that names the columns', async () => {
    for (const file of [HEADER, `${HEADER}\r\n`, `\ufeff${HEADER}\n`, `${HEADER}\n\n\n`])
      expect(await upload(file).answer()).toMatchObject(counts({}));
  });

  test('parses characters, line ends and quoted cells across chunk boundaries', async () => {
    // Chunks are 64 KiB. The rows move across the boundary one byte at a time.
    for (let shift = 0; shift < 40; shift += 1) {
      const padding = `${'x'.repeat(99)},a,b\r\n`.repeat(624) + `${'y'.repeat(400 + shift)}\r\n`;
      const file = `h,h,h\r\n${padding}${'CUT-é,"Ü, ""ü""" ,ñ,"ö"\r\n'.repeat(40)}`;
      expect(Buffer.byteLength(file)).toBeGreaterThan(65_536);
      const reply = await upload(file).answer();
      expect(reply).toMatchObject(
        counts({
          ...(shift === 0 ? { created: 2 } : { unchanged: 2 }),
          processed: 664,
          repeated: 662,
          skipped: 1,
        }),
      );
    }
    expect(await customersOf('CUT-é')).toMatchObject([{ first_name: 'Ü, "ü"', last_name: 'ñ', branch: 'ö' }]);
  });

  const RANDOM_FILES = rounds(15, 60);

  test(`stores arbitrary cells of ${RANDOM_FILES} random CSV files unchanged`, async () => {
    const cell = fc
      .string({ unit: 'binary', maxLength: 20 })
      .filter((text) => text.isWellFormed() && !/\p{Cc}|\p{Noncharacter_Code_Point}|\ufeff/u.test(text));
    const name = cell.map((text) => `n${text.trim()}`);
    // A cell of invisible characters alone is blank.
    const branch = cell
      .map((text) => text.trim())
      .filter((text) => text === '' || /[^\s\p{Default_Ignorable_Code_Point}]/u.test(text));
    const row = fc.record({ first: name, last: name, branch });
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 30 }),
        fc.constantFrom('\r\n', '\n', '\r'),
        async (rows, newline) => {
          const data = rows.map(({ first, last, branch }, n) => [`ANY-${n}`, first, last, branch]);
          const reply = await upload(Papa.unparse([HEADER.split(','), ...data], { newline })).answer();
          expect([reply.status, reply.data.processed]).toEqual([200, rows.length]);
          const stored = await customersOf(...data.map(([code = '']) => code));
          const found = new Map(stored.map((each) => [each.user_code, each]));
          for (const [code = '', first, last, branch] of data) {
            const { first_name, last_name, branch: stays } = found.get(code) ?? {};
            expect([first_name, last_name, stays]).toEqual([first?.trim(), last?.trim(), branch || null]);
          }
        },
      ),
      { numRuns: RANDOM_FILES },
    );
  });
});

describe('rejected files store nothing', () => {
  test('names every invalid cell by row and column and does not store the valid rows', async () => {
    const long = 'x'.repeat(101);
    const reply = await expectRefused(
      `${HEADER}\nGOOD-1,Ann,Lee\n,Ann,Lee\nBAD-1, ,Lee,\n\n"BAD\n2",Ann,,"a\tb"\n${long},${long},${long},${long}\nshort,row\nBAD-3,"a\u0000b",\u0085x,\u007f\n`,
      [
        '3 user_code blank',
        '4 first_name blank',
        '6 user_code pattern',
        '6 last_name blank',
        '6 branch pattern',
        '7 user_code maxLength',
        '7 first_name maxLength',
        '7 last_name maxLength',
        '7 branch maxLength',
        '9 first_name pattern',
        '9 last_name pattern',
        '9 branch pattern',
      ],
    );
    expect(reply.body['message']).toBe(
      'Nothing was stored. Correct the cells named in errors. There are 12.',
    );
    expect(reply.body['errors'][1]).toEqual({
      field: 'first_name',
      row: 4,
      code: 'blank',
      message: 'Row 4: first_name must not be blank.',
    });
  });

  test('skips and counts rows of blank cells, which spreadsheets write below a table', async () => {
    expect(await upload(lines('A-1,a,b', ',,,', ' ,\u00a0,\t,', 'A-2,a,b')).answer()).toMatchObject(
      counts({ processed: 2, created: 2, skipped: 2 }),
    );
  });

  test.each([
    ['a header that names no column, alone', 'x'],
    ['blank rows alone', `${HEADER}\n,,,\n,,,\n`],
    ['rows of two cells alone', `${HEADER}\nA-1,Ann Lee\nA-2,Ben Roy\n`],
    ['a title above a header with unknown names', 'Clients\nKunde,Vorname,Nachname\nA-1,a,b\n'],
    ['a padded title', 'Clients,,,\n,,,\nKunde,Vorname,Nachname,x\nA-1,a,b,c\n'],
    ['names in another order without a first name', 'branch,user_code,surname\nKingston,A-1,Lee\n'],
  ])('rejects a file of which nothing can be read: %s', async (_name, file) => {
    const reply = await upload(file).answer();
    expect([reply.status, reply.errors[0]?.field]).toEqual([400, 'file']);
    expect(reply.message).toMatch(/user_code|first_name/);
    expect(await customersOf('A-1', 'user_code', 'Kunde')).toEqual([]);
  });

  test('lists the first 1,000 of 3,000 invalid cells and counts all', async () => {
    const reply = await upload(lines(...Array.from({ length: 1_500 }, (_, n) => `B-${n},,`))).answer();
    expect(reply.status).toBe(400);
    expect(reply.message).toBe(
      'Nothing was stored. Correct the cells named in errors. There are 3000, of which the first 1000 are listed.',
    );
    expect(errorsOf(reply)).toHaveLength(1_000);
    expect(errorsOf(reply).at(-1)).toBe('501 last_name blank');
  });

  test.each([
    ['never closed', 'A-1,a,b\nB-1,"open,c\nC-1,d,e\n', ['3 file quotes']],
    ['never closed in the header', '', ['1 file quotes']],
    ['closed too early', 'A-1,"Jo"hn",b\nB-1,a,b\n', ['2 file quotes']],
  ])('rejects quotes that are %s', async (_name, rows, errors) => {
    await expectRefused(rows ? `${HEADER}\n${rows}` : '"user_code,a,b\nA-1,a,b\n', errors);
  });

  test('rejects an unclosed quote in a large file quickly, wherever it is', async () => {
    for (const filling of ['A-1,a,b\n', '""', '"",']) {
      const file = `${HEADER}\nA-1,a,b\nB-1,"open,c\n${filling.repeat(Math.floor(9_000_000 / filling.length))}`;
      const started = performance.now();
      const reply = await upload(file).answer();
      expect([filling, reply.status, errorsOf(reply)[0]]).toEqual([filling, 400, '3 file length']);
      expect(performance.now() - started).toBeLessThan(5_000);
    }
  });

  const UTF16 = Buffer.from(lines('A-1,a,b'), 'utf16le');

  test.each<[string, Buffer, string]>([
    ['UTF-16 without a byte order mark', UTF16, 'validation_failed'],
    ['an overlong form', Buffer.from([0x61, 0xc0, 0xaf]), 'invalid_encoding'],
    [
      'a surrogate in UTF-8',
      Buffer.concat([Buffer.from(lines('A-1,a,')), Buffer.from([0xed, 0xa0, 0x80])]),
      'invalid_encoding',
    ],
    [
      'a character cut off at the end',
      Buffer.concat([Buffer.from(lines('A-1,ä,b')), Buffer.from([0xc3])]),
      'invalid_encoding',
    ],
    ['gzip', gzipSync(lines('A-1,a,b')), 'validation_failed'],
    [
      'a zip or a workbook',
      Buffer.from(
        '504b0304140000000800000021000000000000000000000000000b0000005f72656c732f2e72656c73',
        'hex',
      ),
      'validation_failed',
    ],
    ['a PNG', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'validation_failed'],
    ['a JPEG', Buffer.from('ffd8ffe000104a46494600', 'hex'), 'validation_failed'],
    ['a GIF', Buffer.from('GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000'), 'validation_failed'],
    ['JSON', Buffer.from('[{"user_code":"A-1","first_name":"a","last_name":"b"}]'), 'validation_failed'],
    ['a JSON object', Buffer.from('\n{"a":[1,2,3]}'), 'validation_failed'],
    ['a web page', Buffer.from('<!doctype html>\n<p>a,b,c\n'), 'validation_failed'],
    ['an empty file', Buffer.alloc(0), 'validation_failed'],
    ['only a byte order mark and blank lines', Buffer.from('\ufeff\r\n\r\n'), 'validation_failed'],
  ])('rejects %s', async (_name, file, code) => {
    const reply = await upload(file).answer();
    expect([reply.status, reply.code, reply.errors[0]?.field]).toEqual([400, code, 'file']);
  });

  test('accepts 100,000 rows and rejects one more', async () => {
    const rows = 'R-1,a,b\n'.repeat(100_000);
    expect(await upload(`h,h,h\n${rows}`).answer()).toMatchObject(
      counts({ processed: 100_000, created: 1, repeated: 99_999 }),
    );
    await expectRefused(`h,h,h\n${rows}short\n`, ['file maxItems']);
  });

  test("ignores the file's name and media type", async () => {
    for (const [name, type] of [
      ['../../etc/passwd', 'application/zip'],
      ['customers.xlsx', 'image/png'],
      ['', 'application/json'],
    ])
      expect(await upload(HEADER, { name, type }).answer()).toMatchObject(counts({}));
  });
});

describe('courier of an upload', () => {
  test('staff must name a courier: missing, blank and malformed ids get 400, unknown and foreign ones 404', async () => {
    const file = lines('WHO-1,Ann,Lee');
    await expectRefused(file, ['target_courier_id required'], { as: 'admin' });
    await expectRefused(file, ['target_courier_id required'], { as: 'manager', courier: '' });
    await expectRefused(file, ['target_courier_id invalid'], { as: 'manager', courier: 'IEX' });
    for (const courier of [DEMO.couriers.TWO, '01930a3e-7c1d-7e11-9c5a-00000000ffff']) {
      for (const dryRun of ['false', 'true'])
        await upload(file, { as: 'admin', courier, dryRun }).refused(404, 'courier_not_found');
    }
    for (const [as, courier] of [
      ['admin', DEMO.couriers.HRB],
      ['manager', DEMO.couriers.IEX.toUpperCase()],
    ] as const)
      expect(await upload(file, { as, courier }).answer()).toMatchObject(
        counts({ processed: 1, created: 1 }),
      );
    expect((await customersOf('WHO-1')).map((row) => row.courier_id).sort()).toEqual(
      [DEMO.couriers.HRB, DEMO.couriers.IEX].sort(),
    );
  });

  test('a courier uploads for itself, whatever target_courier_id contains', async () => {
    const targets = [undefined, '', 'nonsense', DEMO.couriers.HRB, DEMO.couriers.TWO];
    for (const [n, courier] of targets.entries()) {
      const reply = await upload(lines(`SELF-${n},Ann,Lee`), {
        ...(courier === undefined ? {} : { courier }),
      }).answer();
      expect(reply).toMatchObject(counts({ processed: 1, created: 1 }));
      expect((await customersOf(`SELF-${n}`)).map((row) => row.courier_id)).toEqual([DEMO.couriers.IEX]);
    }
  });

  test('stores a code of a sibling courier as a separate customer', async () => {
    const [before] = await customersOf('HRB-2001');
    expect(await upload(lines('HRB-2001,Mine,Now')).answer()).toMatchObject(
      counts({ processed: 1, created: 1 }),
    );
    expect((await customersOf('HRB-2001')).find((row) => row.courier_id === DEMO.couriers.HRB)).toEqual(
      before,
    );
  });

  test('denies the warehouse role, anonymous callers, API keys and disabled accounts', async () => {
    const file = lines('NO-1,a,b');
    await upload(file, { as: 'warehouse', courier: DEMO.couriers.IEX }).refused(403, 'permission_denied');
    const form = { file: { file } };
    expect(await api.anonymous.uploadCustomers(multipart(form)).answer()).toMatchObject({ status: 401 });
    expect(await api.withKey(DEMO.apiKeys.IEX).uploadCustomers(multipart(form)).answer()).toMatchObject({
      status: 401,
    });
    expect(await upload(file, { as: 'disabled', courier: DEMO.couriers.IEX }).answer()).toMatchObject({
      status: 403,
    });
    expect(await customersOf('NO-1')).toEqual([]);
  });
});

describe('dry run', () => {
  test('returns the counts of the real upload and writes nothing', async () => {
    await upload(
      lines('DRY-1,Ann,Lee,Kingston', 'DRY-2,Ann,Lee,Kingston', 'DRY-3,Ann,Lee', 'DRY-4,Ann,Lee,Kingston'),
    ).ok();
    const file = lines(
      'DRY-1,Ann,Lee',
      'DRY-2,Ann,Lee,',
      'DRY-3,Ann,Lee,',
      'DRY-4,Bea,Lee',
      'DRY-5,New,One',
      'DRY-5,New,Two',
      'x,y',
    );
    const expected = { processed: 6, created: 1, updated: 2, unchanged: 2, repeated: 1, skipped: 1 };
    const before = await fingerprint(service().owner);
    for (const dryRun of ['true', 'True', '1']) {
      const reply = await upload(file, { dryRun }).answer();
      expect(reply).toMatchObject(counts({ ...expected, dry_run: true }));
      expect(reply.message).toMatch(/^Nothing was stored\. /);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
    expect(await upload(file, { dryRun: '0' }).answer()).toMatchObject(counts(expected));
  });

  test('makes the same checks', async () => {
    await expectRefused(lines(',a,b'), ['2 user_code blank'], { dryRun: 'true' });
    await expectRefused(lines('A,a,b'), ['target_courier_id required'], { dryRun: 'true', as: 'admin' });
    for (const dryRun of ['', 'yes', 'TRUE', '2'])
      await expectRefused(lines('A,a,b'), ['dry_run type'], { dryRun });
  });
});

test('the audit log contains the user, the file and every written customer before and after', async () => {
  await upload(lines('AUD-1,Ann,Lee,Kingston', 'AUD-2,Ben,Roy')).ok();
  const file = lines('AUD-1,Ann,Lee', 'AUD-2,Ben,Ray,Portmore', 'AUD-3,Cy,Fox,');
  const reply = await upload(file, { as: 'manager', courier: DEMO.couriers.IEX }).answer();
  expect(reply).toMatchObject(counts({ processed: 3, created: 1, updated: 1, unchanged: 1 }));
  const requestId = reply.headers.get('x-request-id');
  const { rows } = await service().owner.query(
    `select tenant_id, actor_kind, actor_id, action, entity, entity_id, before, after, remarks
     from audit_entries where request_id = $1`,
    [requestId],
  );
  const columns = ['user_code', 'first_name', 'last_name', 'branch'];
  expect(rows).toEqual([
    {
      tenant_id: DEMO.tenants.demo,
      actor_kind: 'user',
      actor_id: DEMO.users.manager,
      action: 'customers.uploaded',
      entity: 'courier',
      entity_id: DEMO.couriers.IEX,
      before: { columns, updated: [['AUD-2', 'Ben', 'Roy', null]] },
      after: {
        columns,
        part: 1,
        sha256: createHash('sha256').update(file).digest('hex'),
        created: [['AUD-3', 'Cy', 'Fox', null]],
        updated: [['AUD-2', 'Ben', 'Ray', 'Portmore']],
      },
      remarks: 'upload',
    },
  ]);
});

test('a header that names a column twice is refused', async () => {
  await expectRefused('first_name,user_code,last_name,user_code\nAnn,TWICE-1,Lee,TWICE-2\n', [
    'file repeated',
  ]);
});
