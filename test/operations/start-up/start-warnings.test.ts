import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { SETTING_NAMES } from '../../../src/config/settings.js';
import { EXPORTED_BY_DOCUMENTS, findMisspelt } from '../../../src/startup/shared-checks/misspelt-settings.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { KEYS } from '../../support/rehearsal/installation.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { endProcesses, makeFolder, removeFolders, run } from '../../support/service/processes.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { COMPLETE, linesOfStart as startAndRead } from './start-lines.js';

// What a start of a deployment warns of, in one line each, and starts nevertheless.

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

const linesOfStart = (env: Record<string, string>, scheme?: 'https') =>
  startAndRead({ DATABASE_URL: database.urls.DATABASE_URL, ...env }, scheme);

test(
  'an env file that was cut gives a line for the mail and one for the rate limit',
  async () => {
    const mail = expect.stringMatching(
      /^SES_REGION is not set, so mails are only written to files in .*MAIL_FROM/,
    );
    const limit = expect.stringMatching(
      /^RATE_LIMIT_PER_MINUTE is not set, so the requests .* are not limited/,
    );
    expect(await linesOfStart({})).toEqual([mail, limit]);
  },
  LIMIT_MS,
);

test(
  'a misspelt setting gives a line with the right name, and variables of other programs give none',
  async () => {
    const misspelt = { API_PROCESES: '2', WORKER_CONCURENCCY: '5', PROT: '80', 'pool-size': '4' };
    const others = {
      SSL_CERT_FILE: '/a',
      AWS_REGION: 'a',
      PGHOST: 'a',
      PGPORT: '1',
      OTEL_BLRP_SCHEDULE_DELAY: '1',
    };
    const lineOf = (name: string, setting: string) =>
      `${name} is no setting, and is not used. It resembles ${setting}. Correct the name, or remove the variable.`;
    expect(await linesOfStart({ ...COMPLETE, ...misspelt, ...others })).toEqual([
      lineOf('API_PROCESES', 'API_PROCESSES'),
      lineOf('WORKER_CONCURENCCY', 'WORKER_CONCURRENCY'),
      lineOf('PROT', 'PORT'),
      lineOf('pool-size', 'POOL_SIZE'),
    ]);
  },
  LIMIT_MS,
);

test(
  'a refused start names the misspelt file that caused it, first',
  async () => {
    const { LOOKUP_KEY, ...others } = KEYS;
    const folder = await makeFolder();
    writeFileSync(join(folder, 'LOOKUPKEY'), LOOKUP_KEY);
    const server = run('src/main.js', {
      ...others,
      APP_ENV: 'production',
      DATABASE_URL: database.urls.DATABASE_URL,
      SECRETS_DIR: folder,
      TRUST_PROXY: '127.0.0.1',
    });
    expect(await server.ended).toMatchObject({ code: 1 });
    expect(server.output().split('\n').filter(Boolean)).toEqual([
      'LOOKUPKEY in SECRETS_DIR is no setting, and is not used. It resembles LOOKUP_KEY. Correct the name, or remove the file.',
      expect.stringMatching(/^LOOKUP_KEY is required in production/),
    ]);
  },
  LIMIT_MS,
);

test('the variables that the documents tell an operator to export are not misspelt settings', async () => {
  const pages = ['docs', 'deploy'].flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      // The site is for integrators.
      .filter((name) => name.endsWith('.md') && !name.startsWith('site/'))
      .map((name) => readFileSync(join(projectRoot, folder, name), 'utf8')),
  );
  const exported = pages
    .flatMap((page) => [...page.matchAll(/^\s*export ((?:[A-Z_]+=(?:'[^']*'|"[^"]*"|\S)* ?)+)/gm)])
    .flatMap(([, assignments = '']) => [...assignments.matchAll(/(?:^| )([A-Z_]+)=/g)])
    .flatMap(([, name = '']) => name);
  const names = [...new Set(exported)].filter((name) => !SETTING_NAMES.includes(name)).toSorted();
  expect(names).toEqual(EXPORTED_BY_DOCUMENTS);
  expect(findMisspelt(Object.fromEntries(names.map((name) => [name, 'a'])))).toEqual([]);
  // Another name is still named.
  expect(findMisspelt({ HOTS: 'a' })).toEqual([{ name: 'HOTS', setting: 'HOST', isFile: false }]);
});

test(
  'processes that share too few connections give a line, and with five of each none',
  async () => {
    const warned = await linesOfStart({ ...COMPLETE, API_PROCESSES: '3', POOL_SIZE: '10' });
    expect(warned).toEqual([
      'POOL_SIZE=10 gives each of the 3 API processes 3.3 connections, so requests wait while reports and uploads have them. ' +
        'Set POOL_SIZE to 15 or more, or API_PROCESSES to 2.',
    ]);
    expect(await linesOfStart({ ...COMPLETE, API_PROCESSES: '2', POOL_SIZE: '10' })).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'settings that the env file leaves empty on purpose give no line',
  async () => {
    expect(await linesOfStart({ SES_REGION: '', MAIL_FROM: '', RATE_LIMIT_PER_MINUTE: '' })).toEqual([]);
  },
  LIMIT_MS,
);

(findProgram('openssl') ? test : test.skip)(
  titleWith('a certificate that ends in nine days gives the line of the doctor', [
    findProgram('openssl') ? undefined : 'openssl',
  ]),
  async () => {
    const folder = await makeFolder();
    const files = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') };
    const args =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 9 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1';
    const made = spawnSync('openssl', [
      ...args.split(' '),
      '-out',
      files.TLS_CERT_FILE,
      '-keyout',
      files.TLS_KEY_FILE,
    ]);
    expect(made.status).toBe(0);
    expect(await linesOfStart({ ...COMPLETE, ...files }, 'https')).toEqual([
      expect.stringMatching(/^Certificate 1 in TLS_CERT_FILE expires in [89] days\. Renew it/),
    ]);
  },
  LIMIT_MS,
);

test(
  'a folder for mail that cannot be written gives a line where jobs run',
  async () => {
    const MAIL_OUTBOX = join(await makeFolder(), 'file');
    writeFileSync(MAIL_OUTBOX, '');
    const env = { SES_REGION: '', RATE_LIMIT_PER_MINUTE: '3000', MAIL_OUTBOX };
    expect(await linesOfStart(env)).toEqual([]);
    expect(await linesOfStart({ ...env, RUN_WORKER: 'true' })).toEqual([
      expect.stringMatching(/^MAIL_OUTBOX, for mail without SES, cannot be used: .* is a file\. Set another/),
    ]);
  },
  LIMIT_MS,
);

test(
  'a certificate that has expired gives a line',
  async () => {
    const receivers = join(projectRoot, 'test', 'support', 'receivers');
    const files = {
      TLS_CERT_FILE: join(receivers, 'courier-expired.pem'),
      TLS_KEY_FILE: join(receivers, 'localhost-key.pem'),
    };
    expect(await linesOfStart({ ...COMPLETE, ...files }, 'https')).toEqual([
      expect.stringMatching(/^Certificate 1 in TLS_CERT_FILE expired on .* Renew it/),
    ]);
  },
  LIMIT_MS,
);

describe('a DEPLOYMENT with a typing error and the same keys', () => {
  const WRONG = { ...COMPLETE, DEPLOYMENT: 'crossdock-prodution' };

  test(
    'gives a line at its first start, which names the deployment of before and take-over',
    async () => {
      expect(await linesOfStart(COMPLETE)).toEqual([]);
      expect(await linesOfStart(WRONG)).toEqual([
        expect.stringMatching(
          new RegExp(
            '^DEPLOYMENT=crossdock-prodution uses this database for the first time\\. The deployment crossdock-production used it last, ' +
              `.*typing error, correct DEPLOYMENT.*take-over (-- )?--from crossdock-production --database ${database.name}\\.$`,
          ),
        ),
      ]);
      expect(await linesOfStart(WRONG)).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'the doctor of the right one names the error and take-over before it speaks of copies, and take-over ends it',
    async () => {
      const env = {
        ...KEYS,
        ...COMPLETE,
        ...database.urls,
        APP_ENV: 'production',
        DEPLOYMENT: 'crossdock-production',
        TRUST_PROXY: '127.0.0.1',
      };
      const examine = async () => {
        const doctor = run('src/commands/doctor.js', env);
        await doctor.ended;
        return doctor
          .output()
          .split('\n')
          .filter((line) => /^\S+ +deployment /.test(line))
          .join('\n');
      };
      expect(await examine()).toMatch(
        /crossdock-prodution.*It has the same keys\. If one of the names .* typing error.*take-over (-- )?--from crossdock-prodution .*anonymise/,
      );
      const args = ['--from', 'crossdock-prodution', '--database', database.name];
      expect((await run('src/commands/take-over.js', env, args).ended).code).toBe(0);
      expect(await examine()).toMatch(/^ok +deployment /);
    },
    LIMIT_MS,
  );

  test(
    'a name that was used long ago gives no line',
    async () => {
      await withClient(database.ownerUrl, (client) =>
        client.query("update installation.deployments set seen_at = now() - interval '8 days'"),
      );
      expect(await linesOfStart({ ...COMPLETE, DEPLOYMENT: 'crossdock-miami' })).toEqual([]);
    },
    LIMIT_MS,
  );
});
