import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { openLineWriter, type LineWriter } from '../../../src/platform/logging/line-writer.js';
import { until } from '../../support/service/processes.js';

const LIMIT_MS = 60_000;

// A named pipe of the system, which the test reads or does not read.

let folder: string;
let pipe: number;
let losses: number[];
let writers: LineWriter[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'crossdock-lines-'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
});

afterAll(() => rmSync(folder, { recursive: true }));

beforeEach(() => {
  pipe = openSync(join(folder, 'pipe'), constants.O_RDWR | constants.O_NONBLOCK);
  losses = [];
  writers = [];
});

// A writer must not try again with the number of a file that is closed: it may be that of a connection to the database then.
afterEach(() => {
  for (const writer of writers) writer.end();
  closeSync(pipe);
});

function openWriter(fd = pipe): LineWriter {
  const writer = openLineWriter({ fd, unblock() {} }, (lines) => losses.push(lines));
  writers.push(writer);
  return writer;
}

/** Returns what is in the pipe now. */
function read(): string {
  const buffer = Buffer.alloc(1024 * 1024);
  const parts: string[] = [];
  for (;;) {
    try {
      parts.push(buffer.toString('utf8', 0, readSync(pipe, buffer)));
    } catch {
      return parts.join('');
    }
  }
}

/** Reads until a line begins with the text. Returns all lines before it. */
async function readUntil(text: string): Promise<string[]> {
  let all = '';
  await until(async () => (all += read()).includes(`\n${text}`), LIMIT_MS);
  return all.slice(0, all.indexOf(`\n${text}`)).split('\n');
}

const line = (number: number) => `${number} ${'é'.repeat(200)}\n`;
const numbersOf = (lines: string[]) => lines.map((text) => Number(text.split(' ')[0]));
const range = (from: number, end: number) => Array.from({ length: end - from }, (_, index) => from + index);

test('lines of one turn are written at its end, in order', async () => {
  const writer = openWriter();
  for (const number of range(0, 5)) writer.write(line(number));
  expect(read()).toBe('');
  writer.write('end\n');
  expect(numbersOf(await readUntil('end'))).toEqual(range(0, 5));
});

test('the end of the process writes the lines of its last turn', () => {
  const writer = openWriter();
  for (const number of range(0, 100)) writer.write(line(number));
  writer.end();
  expect(read()).toBe(range(0, 100).map(line).join(''));
});

test('a slow reader gets every line once, in order and whole', async () => {
  const writer = openWriter();
  for (const number of range(0, 2_000)) writer.write(line(number));
  writer.write('end\n');
  const lines = await readUntil('end');
  expect(lines).toEqual(range(0, 2_000).map((number) => line(number).trimEnd()));
  expect(writer.lost()).toBe(0);
});

test('without a reader no line waits, further lines are dropped, and their number is told when it reads again', async () => {
  const writer = openWriter();
  const count = 60_000;
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  for (const number of range(0, count)) writer.write(line(number));
  const { user, system } = process.cpuUsage(startCpu);
  // On a busy machine, the process waits for the CPU, but never for the reader.
  expect(performance.now() - startMs).toBeLessThan((user + system) / 1000 + 10_000);
  const lost = writer.lost();
  expect(lost).toBeGreaterThan(0);
  expect(losses).toEqual([]);

  let all = '';
  await until(async () => {
    all += read();
    return losses.length > 0;
  }, LIMIT_MS);
  all += read();
  expect(losses).toEqual([lost]);
  expect(all).toBe(
    range(0, count - lost)
      .map(line)
      .join(''),
  );

  writer.write('more\nend\n');
  expect(await readUntil('end')).toEqual(['more']);
  expect(losses).toEqual([lost]);
}, 120_000);

test('the end of the process waits for a reader that does not read, but not for long', () => {
  const writer = openWriter();
  for (const number of range(0, 1_000)) writer.write(line(number));
  const startMs = performance.now();
  writer.end();
  expect(performance.now() - startMs).toBeLessThan(2_000);
  expect(read().length).toBeGreaterThan(10_000);
});

test('a full disk delays neither a line nor the end of the process', () => {
  const full = openSync('/dev/full', 'w');
  try {
    const writer = openWriter(full);
    const startMs = performance.now();
    for (const number of range(0, 30_000)) writer.write(line(number));
    writer.end();
    expect(performance.now() - startMs).toBeLessThan(2_000);
    expect(writer.lost()).toBeGreaterThan(0);
  } finally {
    closeSync(full);
  }
});

test('nothing is written after the end, to whatever file has the number then', async () => {
  const full = openSync('/dev/full', 'w');
  const writer = openWriter(full);
  writer.write('before\n');
  // The disk is full, so the writer tries again and again.
  await sleep(50);
  writer.end();
  closeSync(full);
  const other = join(folder, 'other');
  const reused = openSync(other, 'w');
  expect(reused).toBe(full);
  writer.write('after\n');
  await sleep(500);
  closeSync(reused);
  expect(readFileSync(other, 'utf8')).toBe('');
});
