import { afterAll, describe, expect, test } from '@jest/globals';
import { matching } from '../../support/assertions/matching.js';
import { around, HOSTILE_CHARACTERS, hostileRows, VERY_LONG } from '../../support/attacks/hostile-texts.js';
import { CUSTOMERS, newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import type { Reply } from '../../support/service/service.js';

// No cell, encoding or file name of an upload makes the service fail, and none is stored with characters that it must not have.

// Before the service stops: hooks run in the order in which they are written.
afterAll(async () => {
  expect(await hostileRows(service().owner)).toEqual([]);
}, 60_000);

const { service } = withService();

type Upload = {
  columns: readonly string[];
  row(): string[];
  send(file: Buffer, options?: Options): Promise<Reply>;
};
type Options = { dry_run?: string; name?: string };

const send =
  (id: 'uploadPrealerts' | 'uploadCustomers') =>
  (file: Buffer, { dry_run = 'false', name = 'f.csv' }: Options = {}) =>
    service().call(id, { as: 'iex', form: { file: { file, name, type: 'text/csv' }, dry_run } });

const UPLOADS: Record<string, Upload> = {
  uploadPrealerts: {
    columns: ['tracking_number', 'user_code', 'vendor', 'description', 'reference'],
    row: () => [newNumber(), CUSTOMERS.IEX, 'Shop', 'Shoes', 'R-12'],
    send: send('uploadPrealerts'),
  },
  uploadCustomers: {
    columns: ['user_code', 'first_name', 'last_name', 'branch'],
    row: () => [`T-${newNumber()}`, 'Anna', 'Lee', 'Kingston'],
    send: send('uploadCustomers'),
  },
};

const ENCODINGS: Record<string, (text: string) => Buffer> = {
  'UTF-8': (text) => Buffer.from(text),
  // Half a surrogate pair of JavaScript stays one in these bytes.
  'UTF-16LE': (text) => Buffer.concat([Buffer.from('\ufeff', 'utf16le'), Buffer.from(text, 'utf16le')]),
  'UTF-16BE': (text) =>
    Buffer.concat([Buffer.from('\ufeff', 'utf16le'), Buffer.from(text, 'utf16le')]).swap16(),
};

const lines = (columns: readonly string[], cells: readonly string[]) =>
  `${columns.join(',')}\n${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`;

describe.each(Object.entries(UPLOADS))('%s', (_id, { columns, row, send: upload }) => {
  test.each(Object.entries(ENCODINGS))(
    'takes no hostile text in any column of a file in %s',
    async (_name, encode) => {
      // JavaScript writes half a surrogate pair as U+FFFD in UTF-8. The bytes themselves are sent below.
      const marks = HOSTILE_CHARACTERS.filter(
        ([, mark]) => encode !== ENCODINGS['UTF-8'] || mark.isWellFormed(),
      );
      for (const [name, mark] of [...marks, ['a very long text', VERY_LONG] as const])
        for (const [index, column] of columns.entries())
          for (const dry_run of ['true', 'false']) {
            // One place in each file, in turn.
            const cells = row().map((cell, at) => (at === index ? (around(cell, mark)[at % 3] ?? '') : cell));
            const { status } = await upload(encode(lines(columns, cells)), { dry_run });
            expect([name, column, dry_run, status < 500]).toEqual([name, column, dry_run, true]);
          }
    },
    60_000,
  );

  test('refuses bytes that are no text', async () => {
    for (const hex of ['eda080', 'c080', 'f09f98', '8f9d'])
      for (const index of columns.keys()) {
        const [before = '', after = ''] = lines(
          columns,
          row().map((cell, at) => (at === index ? 'MARK' : cell)),
        ).split('MARK');
        const bytes = Buffer.from(hex, 'hex');
        const { status } = await upload(Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]));
        // Some bytes are letters of Windows-1252.
        expect([hex, index, status < 500]).toEqual([hex, index, true]);
      }
  });

  test('takes no hostile text in the header or in the rows above it', async () => {
    for (const [name, mark] of HOSTILE_CHARACTERS.filter(([, each]) => each.isWellFormed()))
      for (const place of [0, 1, 2]) {
        const header = columns.map((column) => around(column, mark)[place] ?? '');
        const title = `${around('Title', mark)[place]}\n`;
        const replies = [
          await upload(Buffer.from(lines(header, row()))),
          await upload(Buffer.from(title + lines(columns, row()))),
        ];
        expect([name, replies.filter(({ status }) => status >= 500)]).toEqual([name, []]);
      }
  });

  test('takes a file of any name', async () => {
    const names = ['a\u0000b', '\ufffe', '../../etc/passwd', '"; x="', '\u202etxt', 'x'.repeat(5_000)];
    for (const name of names) {
      const { status } = await upload(Buffer.from(lines(columns, row())), { name });
      expect([name.slice(0, 20), status < 500]).toEqual([name.slice(0, 20), true]);
    }
  });

  test('refuses a cell that is cut inside a character in its message', async () => {
    // The message shows 40 UTF-16 units: the last is half of the character.
    const damaged = `="${'1'.repeat(37)}😀"`;
    const cells = row().map((cell, at) => (columns[at] === 'user_code' ? damaged : cell));
    const reply = await upload(Buffer.from(lines(columns, cells)));
    expect(reply.status).toBe(400);
    expect(reply.bytes.toString()).not.toMatch(
      matching(/\\ud[89a-f]|\ufffd/i, JSON.stringify('\ud83d'), '\ufffd'),
    );
  });
});
