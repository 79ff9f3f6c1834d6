import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';

// A command whose output nobody reads, as with `| head -1`, does its work and ends without an error.

const LIMIT_MS = 120_000;

let database: DocumentedDatabase;

beforeAll(async () => {
  database = await documentedDatabase({ demo: true });
}, LIMIT_MS);

afterAll(() => database.drop(), LIMIT_MS);

/** Runs a command and closes its output before it writes. */
async function runUnread(args: string[], output: 'stdout' | 'stderr' = 'stdout') {
  const child = spawn(process.execPath, [join(projectRoot, 'bin', 'crossdock'), ...args], {
    env: { PATH: process.env['PATH'], APP_ENV: 'development', ...database.urls },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child[output].destroy();
  const [[code], other] = await Promise.all([
    once(child, 'close'),
    text(output === 'stdout' ? child.stderr : child.stdout),
  ]);
  return { code, other };
}

const COMMANDS = readdirSync(join(projectRoot, 'src', 'commands'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace('.ts', ''));

test.each([...COMMANDS, 'serve', 'worker', 'print-bridge'])(
  '%s --help ends quietly',
  async (command) => {
    expect(await runUnread([command, '--help'])).toEqual({ code: 0, other: '' });
  },
  LIMIT_MS,
);

test(
  'outbound --resume resumes',
  async () => {
    await withClient(database.ownerUrl, (client) =>
      client.query("update installation.outbound set paused_at = now(), paused_because = 'test'"),
    );
    expect(await runUnread(['outbound', '--resume'])).toEqual({ code: 0, other: '' });
    const { rows } = await withClient(database.ownerUrl, (client) =>
      client.query('select paused_at from installation.outbound'),
    );
    expect(rows).toEqual([{ paused_at: null }]);
  },
  LIMIT_MS,
);

test(
  'doctor keeps its exit status',
  async () => {
    expect(await runUnread(['doctor'])).toEqual({ code: expect.any(Number), other: '' });
    expect((await runUnread(['doctor', '--unknown'], 'stderr')).code).toBe(2);
  },
  LIMIT_MS,
);
