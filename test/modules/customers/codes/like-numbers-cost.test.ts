import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readUpload } from '../../../../src/modules/customers/upload/upload-rows.js';
import { readScan, warnOfLikeNumber } from '../../../../src/modules/tracking-numbers/public.js';
import { longestBlockMs } from '../../../support/harness/event-loop-block.js';
import { publishedVectors } from '../../tracking-numbers/data-set.js';

// An upload has 100,000 codes, and each is compared with the carriers' formats.

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'like-numbers-'));
});

afterAll(() => rm(folder, { recursive: true }));

test('no number of a carrier is left out by the quick check', () => {
  const numbers = publishedVectors().flatMap(({ number }) => [
    number,
    number.replace(/\s/g, ''),
    number.replace(/\s/g, '').toLowerCase(),
    number.replace(/\s/g, '').replace(/(.{4})(?=.)/g, '$1-'),
    `No. ${number}`,
  ]);
  const fitting = numbers.filter((number) => readScan(number).candidates.length > 0);
  expect(fitting.length).toBeGreaterThan(400);
  expect(fitting.filter((number) => !warnOfLikeNumber(number))).toEqual([]);
});

test('a code of words is not read as a scan', () => {
  const codes = Array.from({ length: 5_000 }, (_, n) => `customer code number ${n}`);
  const timeOf = (read: (code: string) => unknown) => {
    const { user } = process.cpuUsage();
    for (const code of codes) read(code);
    return process.cpuUsage().user - user;
  };
  timeOf(readScan);
  timeOf(warnOfLikeNumber);
  expect(timeOf(warnOfLikeNumber) * 4).toBeLessThan(timeOf(readScan));
});

test('codes of many numbers do not hold the event loop', async () => {
  const codeOf = (n: number) =>
    Array.from({ length: 9 }, (_, place) => `A${10_000_000 + n * 80 + place}`).join(' ');
  const path = join(folder, 'codes.csv');
  const rows = Array.from({ length: 5_000 }, (_, n) => `${codeOf(n)},Ann,Lee`);
  await writeFile(path, ['user_code,first_name,last_name', ...rows].join('\n'));
  const read = () =>
    longestBlockMs(() => readUpload({ path, readWorkbook: () => Promise.reject(new Error('A CSV file.')) }));
  await read();
  // 8 ms. With each code read in the turn of its row, 60 ms.
  expect(await read()).toBeLessThan(30);
});
