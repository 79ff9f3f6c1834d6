import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import Papa from 'papaparse';
import { rounds } from '../../../support/harness/effort.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeUploads, counts, HEADER, lines, errorsOf } from './customer-files.js';

const fixture = withService();
const { service } = fixture;
const { upload, customersOf, expectRefused } = makeUploads(fixture);

beforeEach(async () => {
  await service().owner.query(
    "delete from customers where user_code not similar to '(IEX|HRB|TWO)-[0-9]{4}'",
  );
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

  test('accepts an empty row below each row, and rejects a file of empty rows soon, however long it is', async () => {
    const rows = 'R-1,a,b\r\r\n'.repeat(20_000);
    expect(await upload(`h,h,h\r\r\n${rows}`).answer()).toMatchObject(
      counts({ processed: 20_000, created: 1, repeated: 19_999 }),
    );
    for (const newline of ['\r', '\n', '\r\n']) {
      await expectRefused(`${HEADER}\n${newline.repeat(100_021)}`, ['file maxItems']);
      await expectRefused(newline.repeat(100_021), ['file maxItems']);
    }
    expect(await upload(`${HEADER}\n${'\n'.repeat(100_020)}`).answer()).toMatchObject(counts({}));
  });

  test('reads no further after too many empty rows', async () => {
    const secondsOf = async (rows: number) => {
      const startedMs = performance.now();
      await expectRefused('\r'.repeat(rows), ['file maxItems'], { dryRun: 'true' });
      return performance.now() - startedMs;
    };
    const short = Math.min(await secondsOf(110_000), await secondsOf(110_000));
    // 80 times as many rows, which took 40 times as long when all were read.
    expect(Math.min(await secondsOf(9_000_000), await secondsOf(9_000_000))).toBeLessThan(15 * short + 500);
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

test('a header that names a column twice is refused', async () => {
  await expectRefused('first_name,user_code,last_name,user_code\nAnn,TWICE-1,Lee,TWICE-2\n', [
    'file repeated',
  ]);
});
