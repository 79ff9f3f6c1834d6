import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { KEYS } from '../../support/rehearsal/installation.js';
import { endProcesses, makeFolder, removeFolders, run } from '../../support/service/processes.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { COMPLETE, linesOfStart } from './start-lines.js';

// Settings that are unsafe: what the doctor says of them, and what a start does.

const LIMIT_MS = 120_000;

let database: DocumentedDatabase;

beforeAll(async () => {
  database = await documentedDatabase();
}, LIMIT_MS);

afterEach(endProcesses, LIMIT_MS);

afterAll(async () => {
  await database.drop();
  await removeFolders();
}, LIMIT_MS);

const settings = () => ({ ...COMPLETE, DATABASE_URL: database.urls.DATABASE_URL });

/** Returns the warnings and problems of these checks. */
async function examine(env: Record<string, string>, checks: string[]): Promise<string[]> {
  const production = { APP_ENV: 'production', DEPLOYMENT: 'crossdock-production', TRUST_PROXY: '127.0.0.1' };
  const doctor = run('src/commands/doctor.js', { ...KEYS, ...production, ...settings(), ...env });
  await doctor.ended;
  return doctor
    .output()
    .split('\n')
    .filter((line) => new RegExp(`^(warning|problem) +(${checks.join('|')}) `).test(line))
    .map((line) => line.replace(/^(\S+) +\S+ +/, '$1 '));
}

test(
  'a folder of secrets that everybody may write is a line of the start, and a warning of the doctor',
  async () => {
    const folder = await makeFolder();
    writeFileSync(join(folder, 'AWS_SECRET_ACCESS_KEY'), 'secret');
    writeFileSync(join(folder, 'AWS_ACCESS_KEY_ID'), 'id');
    const env = { SECRETS_DIR: folder };
    expect(await linesOfStart({ ...settings(), ...env })).toEqual([]);
    chmodSync(folder, 0o777);
    const line = `Everybody on this machine may write ${folder} (mode 0777), and so choose the secrets of the service. Run chmod o-w ${folder}, and find out whether somebody has changed a secret.`;
    expect(await linesOfStart({ ...settings(), ...env })).toEqual([line]);
    expect(await examine(env, ['secrets'])).toContain(`warning ${line}`);
  },
  LIMIT_MS,
);
