import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { UploadedFile } from '../../../../src/platform/contract/types.js';
import { makeWorkbookReader } from '../../../../src/platform/files/workbook/read-workbook.js';
import { readUpload } from '../../../../src/modules/customers/upload/upload-rows.js';
import { workbookOf } from '../../../support/workbooks/workbook-of.js';
import { longestBlockMs } from '../../../support/harness/event-loop-block.js';

const OWNER = { tenantId: 'tenant', courierId: 'courier' };

let folder: string;
let path: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workbooks-'));
  path = join(folder, 'largest.xlsx');
  const shared = Array.from({ length: 200_000 }, (_, n) => `<t>Name ${n}</t>`);
  const rows = Array.from({ length: 100_000 }, (_, n) => {
    const texts = [n * 2, n * 2 + 1].map((at) => `<c t="s"><v>${at}</v></c>`);
    return `<row><c t="inlineStr"><is><t>BIG-${n}</t></is></c>${texts.join('')}<c><v>${n}</v></c></row>`;
  });
  const header = ['user_code', 'first_name', 'last_name', 'branch'];
  const names = header.map((name) => `<c t="inlineStr"><is><t>${name}</t></is></c>`).join('');
  await writeFile(
    path,
    workbookOf({ sheets: [{ data: `<row>${names}</row>${rows.join('')}` }], shared, level: 1 }),
  );
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const fileOf = (closed: AbortSignal): UploadedFile => ({ path, name: '', sizeBytes: 0, closed });
const open = new AbortController().signal;
/** The largest workbook takes 3 s of CPU, and several times as long on a busy machine. */
const patient = () => makeWorkbookReader(undefined, { taskMs: 60_000 });

test('the largest workbook holds the event loop for less than 50 ms, and takes less than 500 MiB', async () => {
  const read = patient();
  const upload = () => readUpload({ path, readWorkbook: () => read(OWNER, fileOf(open)) });
  const start = process.memoryUsage().rss;
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss - start)), 20);
  let processed = 0;
  await upload();
  const block = await longestBlockMs(async () => ({ processed } = await upload()));
  clearInterval(watch);
  expect(processed).toBe(100_000);
  expect(block).toBeLessThan(50);
  expect(most / 2 ** 20).toBeLessThan(500);
}, 120_000);

test('a workbook that takes longer than the limit is refused, and another one is read', async () => {
  const slow = makeWorkbookReader(undefined, { taskMs: 20 });
  await expect(slow(OWNER, fileOf(open))).rejects.toMatchObject({
    code: 'validation_failed',
    detail: { errors: [{ field: 'file', message: expect.stringContaining('too much time or memory') }] },
  });
  const small = makeWorkbookReader(undefined, { maxHeapMb: 16 });
  await expect(small(OWNER, fileOf(open))).rejects.toMatchObject({ code: 'validation_failed' });
  expect((await patient()(OWNER, fileOf(open))).width).toBe(4);
}, 120_000);

test('the thread ends when the client leaves, and the next workbook does not wait for it', async () => {
  const read = patient();
  const leaving = new AbortController();
  const first = read(OWNER, fileOf(leaving.signal));
  setTimeout(() => leaving.abort(), 300);
  const startedMs = performance.now();
  await expect(first).rejects.toMatchObject({ code: 'overloaded' });
  expect(performance.now() - startedMs).toBeLessThan(5_000);
  expect((await read(OWNER, fileOf(open))).width).toBe(4);
  // Of a client that has left while it waited for its turn.
  await expect(read(OWNER, fileOf(AbortSignal.abort()))).rejects.toMatchObject({ code: 'overloaded' });
}, 120_000);
