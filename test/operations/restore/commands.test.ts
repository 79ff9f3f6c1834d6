import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { timeOf } from '../../../src/commands/run/times.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

// Arguments of the commands of docs/restore.md with which nothing would be reported or paused, without a line that says so.

let folder: string;

beforeAll(async () => {
  folder = await makeFolder();
  writeFileSync(join(folder, 'empty.log'), '');
  writeFileSync(
    join(folder, 'journal.log'),
    'Nov 23 21:34:17 host crossdock[1]: {"time":1795469657000,"msg":"request completed"}\n',
  );
  writeFileSync(join(folder, 'service.log.gz'), Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 10, 4]));
  writeFileSync(join(folder, 'numbers.log'), 'null\n1\n"text"\n[]\n{}\n');
});

afterAll(removeFolders);

/** Runs a command without a database, which it must not need to refuse its arguments. */
function crossdock(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(join(projectRoot, 'bin', 'crossdock'), args, {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      APP_ENV: 'development',
      DATABASE_OWNER_URL: 'postgres://nobody@127.0.0.1:1/none',
    },
  });
  return { status, stdout, stderr };
}

const report = (since: string, ...more: string[]) =>
  crossdock('restore-report', '--since', since, '--out', join(folder, 'report'), ...more);

describe('a time of the command line', () => {
  test.each([
    ['2026-11-23T21:34:17Z', '2026-11-23T21:34:17.000Z'],
    ['2026-11-23T21:34Z', '2026-11-23T21:34:00.000Z'],
    ['2026-11-23 21:34:17+00', '2026-11-23T21:34:17.000Z'],
    ['2026-11-23 21:34:17.286038+00', '2026-11-23T21:34:17.286Z'],
    ['2026-11-23 21:34:17 UTC', '2026-11-23T21:34:17.000Z'],
    ['2026-11-23 18:04:17.5-03:30', '2026-11-23T21:34:17.500Z'],
    ['2026-11-23T22:34:17+0100', '2026-11-23T21:34:17.000Z'],
  ])('%s is %s', (text, time) => {
    expect(timeOf(text).toISOString()).toBe(time);
  });
});

describe('crossdock restore-report', () => {
  test.each([
    ['2026-11-23 21:34:17', /is not a time with a zone/],
    ['2026-11-23T21:34:17', /is not a time with a zone/],
    ['', /is not a time with a zone/],
    ['2026-02-30T00:00:00Z', /is not a time with a zone/],
    [
      '2026-11-23',
      /Write it like 2026-12-01T10:00:00Z or, as PostgreSQL prints it, like '2026-12-01 10:00:00\.123456\+00'/,
    ],
    ['2999-01-01T00:00:00Z', /is in the future/],
    ['2999-01-01 00:00:00+00', /is in the future/],
  ])('refuses the time %j', (since, reason) => {
    expect(report(since)).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(reason) });
  });

  test.each(['empty.log', 'journal.log', 'service.log.gz', 'numbers.log'])(
    'refuses %s, which has no line of the service, and writes no report',
    (name) => {
      expect(report('2026-11-23T21:34:17Z', '--log', join(folder, name))).toEqual({
        status: 1,
        stdout: '',
        stderr: expect.stringMatching(/has no line of the service's log\. Give the lines as/),
      });
      expect(existsSync(join(folder, 'report'))).toBe(false);
    },
  );
});

describe('crossdock outbound', () => {
  test.each([
    [['--pause', ''], /--pause needs a reason\. Nothing was changed/],
    [['--pause', ' '], /--pause needs a reason\. Nothing was changed/],
    [['--tenant', ''], /^Use .*outbound .*--drop/],
    [['--resume', '--cancel-before', ''], /is not a time with a zone/],
  ])('refuses %j', (args, reason) => {
    expect(crossdock('outbound', ...args)).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(reason),
    });
  });
});
