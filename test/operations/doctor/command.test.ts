import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, packageVersion } from '../../../src/config/project-root.js';
import { PGBOUNCER, startPooler } from '../../support/harness/pgbouncer.js';
import { startSes, type Ses } from '../../support/receivers/ses.js';
import { startOwnServer } from '../../support/service/postgres.js';
import {
  endProcesses,
  freePort,
  makeFolder,
  removeFolders,
  run,
  runProgram,
  startReplica,
} from '../../support/service/processes.js';
import { findingsFor, makeInstallation, type Installation } from './installation.js';

const LIMIT_MS = 90_000;

let ses: Ses;
let installation: Installation;

beforeAll(async () => {
  ses = await startSes();
  installation = await makeInstallation(ses.url);
}, LIMIT_MS);

afterEach(endProcesses, LIMIT_MS);

afterAll(async () => {
  await installation.drop();
  await ses.stop();
  await removeFolders();
}, LIMIT_MS);

async function doctor(env: Record<string, string | undefined>, ...args: string[]) {
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const aws = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_EC2_METADATA_DISABLED: 'true' };
  const program = run('src/commands/doctor.js', { ...aws, ...Object.fromEntries(given) }, args);
  const { code } = await program.ended;
  return { code, output: program.output() };
}

test(
  'exits with 0 and prints one line per finding, or JSON',
  async () => {
    const [{ code, output }, json] = await Promise.all([
      doctor(installation.env),
      doctor(installation.env, '--json'),
    ]);
    expect([code, output.split('\n').filter((line) => !/^(ok {6}|$)/.test(line))]).toEqual([
      0,
      // A disk of the machine may be nearly full.
      expect.not.arrayContaining([expect.stringMatching(/^problem/)]),
    ]);
    // The AWS SDK may print a warning before.
    expect(JSON.parse(json.output.slice(json.output.indexOf('{')))).toMatchObject({
      problems: 0,
      version: packageVersion(),
      deployment: { name: 'production' },
    });
  },
  LIMIT_MS,
);

test(
  'exits with 1, and prints no secret, if settings are invalid and the database is away',
  async () => {
    const url = `postgres://somebody:secret-password@127.0.0.1:${await freePort()}/nowhere`;
    const env = { ...installation.env, DATABASE_URL: url, LOOKUP_KEY: 'short-secret', PORT: 'http' };
    const { code, output } = await doctor(env);
    expect(code).toBe(1);
    const problems = output.split('\n').filter((line) => line.startsWith('problem'));
    expect(problems).toEqual([
      expect.stringMatching(/settings +PORT must be integer/),
      expect.stringMatching(/settings +LOOKUP_KEY must be 64 hex digits/),
      expect.stringMatching(/database +DATABASE_URL: Cannot connect.*ECONNREFUSED/),
    ]);
    const secrets = ['secret-password', 'short-secret', installation.env['TOKEN_KEYS']?.split(':')[1] ?? ''];
    for (const secret of secrets) expect(output).not.toContain(secret);
  },
  LIMIT_MS,
);

test('exits with 2 for unknown options and for a report that is none', async () => {
  const file = join(await makeFolder(), 'report.json');
  await writeFile(file, '{}');
  const runs = await Promise.all([doctor({}, '--servers', 'many'), doctor({}, '--compare', file)]);
  expect(runs).toEqual([
    { code: 2, output: expect.stringMatching(/^npm run doctor/) },
    { code: 2, output: expect.stringMatching(/is not a report/) },
  ]);
});

test(
  'finds a standby, and a server without autovacuum',
  async () => {
    const server = await startOwnServer();
    try {
      const url = server.urlOf('postgres');
      await server.query('alter system set autovacuum = off');
      const [row] = await server.query('show data_directory');
      await server.shutDown();
      await writeFile(join(String(row?.['data_directory']), 'standby.signal'), '');
      await server.restart();
      const lines = await findingsFor({ APP_ENV: 'development', DATABASE_URL: url });
      expect(lines.filter(({ check, level }) => /server|autovacuum/.test(check) && level !== 'ok')).toEqual([
        expect.objectContaining({ check: 'server', message: expect.stringMatching(/leads to a standby/) }),
        expect.objectContaining({ check: 'autovacuum', message: 'autovacuum is off.' }),
      ]);
    } finally {
      await server.stop();
    }
  },
  LIMIT_MS,
);

const withPgbouncer = PGBOUNCER ? test.each : test.skip.each;

withPgbouncer([
  ['transaction', /leads to a pooler in transaction mode/],
  ['session', /leads to a pooler in session mode/],
  ['statement', /cannot run a transaction/],
] as const)(
  `recognises pgbouncer in %s mode${PGBOUNCER ? '' : ' (skipped: pgbouncer is not installed)'}`,
  async (mode, expected) => {
    const copy = await installation.copy();
    const direct = copy.env['DATABASE_URL'] ?? '';
    const pooler = await startPooler([direct], { mode });
    const DATABASE_URL = pooler.through(direct);
    const declared = {
      ...copy.env,
      DATABASE_URL,
      DATABASE_POOLER: 'transaction',
      DATABASE_DIRECT_URL: direct,
    };
    const pooled = (await findingsFor(declared)).filter(({ check }) => check === 'pooler');
    const silent = (await findingsFor({ ...copy.env, DATABASE_URL })).filter(
      ({ check }) => check === 'pooler',
    );
    await pooler.stop();
    await copy.drop();
    expect(pooled).toEqual([
      expect.objectContaining({
        level: mode === 'statement' ? 'problem' : 'ok',
        message: expect.stringMatching(expected),
      }),
    ]);
    expect(silent).toMatchObject([{ level: 'problem' }]);
  },
  LIMIT_MS,
);

test(
  'a start records the deployment, and does not add another if one has its name',
  async () => {
    const copy = await installation.copy();
    // An earlier start with this name.
    await copy.owner.query(
      "update installation.deployments set name = 'miami', app_env = 'development', version = 'earlier'",
    );
    const replica = await startReplica({ DATABASE_URL: copy.ownerUrl, DEPLOYMENT: 'miami' });
    await replica.stop();
    const { rows } = await copy.owner.query('select name, app_env, version from installation.deployments');
    expect(rows).toEqual([{ name: 'miami', app_env: 'development', version: packageVersion() }]);
    await copy.drop();
  },
  LIMIT_MS,
);

test.each([
  [
    'no setting',
    { APP_ENV: '' },
    'APP_ENV, DATABASE_URL, TOKEN_KEYS, ENCRYPTION_KEYS, LOOKUP_KEY are not set',
  ],
  [
    'only APP_ENV',
    { APP_ENV: 'production' },
    'DATABASE_URL, TOKEN_KEYS, ENCRYPTION_KEYS, LOOKUP_KEY are not set',
  ],
  [
    'no database in development',
    { APP_ENV: 'development' },
    'DATABASE_URL is not set, and .data contains no',
  ],
])(
  'with %s it exits with 2, says in one line what is missing, and creates nothing',
  async (_title, env, missing) => {
    const folder = await makeFolder();
    const program = join(projectRoot, 'dist', 'src', 'commands', 'doctor.js');
    const started = runProgram(process.execPath, [program], { PATH: process.env['PATH'], ...env }, folder);
    const { code } = await started.ended;
    expect([code, started.output().split('\n')]).toEqual([
      2,
      [expect.stringContaining(`There is nothing to examine: ${missing}`), ''],
    ]);
    expect(await readdir(folder)).toEqual([]);
  },
);
