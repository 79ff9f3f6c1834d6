import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { startSes, type Ses } from '../../support/receivers/ses.js';
import { removeFolders } from '../../support/service/processes.js';
import { findingsFor, makeInstallation, type Env, type Installation } from './installation.js';

// Warnings that need more than one state of an installation. doctor.test.ts has the others.

const LIMIT_MS = 60_000;

let ses: Ses;
let installation: Installation;

beforeAll(async () => {
  ses = await startSes();
  installation = await makeInstallation(ses.url);
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
  });
}, LIMIT_MS);

afterAll(async () => {
  await installation.drop();
  await ses.stop();
  await removeFolders();
}, LIMIT_MS);

/** Examines a copy of the installation after these statements, and returns the messages of one check. */
async function messagesOf(check: string, sql: string): Promise<string[]> {
  const copy = await installation.copy();
  try {
    await copy.owner.query(sql);
    const lines = await findingsFor(copy.env);
    return lines.filter((line) => line.check === check).map(({ level, message }) => `${level}: ${message}`);
  } finally {
    await copy.drop();
  }
}

const ADD_COURIERS = `
  insert into couriers (tenant_id, id, code, name, api_url_add_package, api_url_update_package)
  select id, gen_random_uuid(), code, code, 'https://' || code || '.example.com/?key=canary', url
  from tenants, (values ('AAA', 'https://aaa.example.com/?key=canary'), ('BBB', 'https://bbb.example.com'), ('CCC', null)) as c (code, url);
`;

/** Adds the state of the URLs of a courier. */
const addFailures = (code: string, endpoints: string[], since: string) => `
  insert into webhook_endpoints (tenant_id, courier_id, endpoint, failures, failing_since)
  select tenant_id, id, endpoint, 9, now() - interval '${since}'
  from couriers, unnest(array['${endpoints.join("','")}']) as endpoint where code = '${code}';
`;

test(
  'URLs that have failed for more than an hour are counted, and none is named',
  async () => {
    const lines = await messagesOf(
      'webhooks',
      ADD_COURIERS +
        addFailures('AAA', ['add_package', 'update_package'], '61 minutes') +
        addFailures('BBB', ['add_package'], '3 days') +
        // This one recovers in time, or is removed.
        addFailures('BBB', ['update_package'], '59 minutes') +
        addFailures('CCC', ['update_package'], '3 days'),
    );
    expect(lines).toEqual([
      expect.stringMatching(
        /^warning: Every webhook to 3 URLs of 2 couriers of the tenant miami has failed for more than an hour, the longest since \d{4}-[^ ]+Z\.$/,
      ),
    ]);
  },
  LIMIT_MS,
);

test(
  'URLs that fail for a shorter time are no warning',
  async () => {
    const sql = ADD_COURIERS + addFailures('AAA', ['add_package'], '59 minutes');
    expect(await messagesOf('webhooks', sql)).toEqual([
      'ok: No URL of a courier has failed for more than an hour.',
    ]);
  },
  LIMIT_MS,
);

test(
  'before the first migration, one line says how many are missing',
  async () => {
    const lines = await messagesOf('migrations', 'delete from _prisma_migrations');
    expect(lines).toEqual([
      expect.stringMatching(/^problem: \d{2,} migrations, from 2026\d+_\w+ to 2026\d+_\w+ are missing\.$/),
    ]);
  },
  LIMIT_MS,
);

test.each([
  ['works', {}, /perhaps more workers are needed\.$/],
  ['does not work', { SES_ENDPOINT: 'http://127.0.0.1:1' }, /^First correct what the line "mail" says\.$/],
])(
  'the hint for a mail that waits is right if mail %s',
  async (_title, env, remedy) => {
    const copy = await installation.copy();
    await copy.owner.query(
      `insert into account_mails (tenant_id, id, user_id, kind, recipient, status, created_at)
       select tenant_id, gen_random_uuid(), id, 'password_changed', 'a@gateway.test', 'queued', now() - interval '1 hour' from users limit 1`,
    );
    const lines = await findingsFor({ ...copy.env, ...env });
    await copy.drop();
    expect(lines.filter(({ check }) => check === 'backlog')).toEqual([
      {
        check: 'backlog',
        level: 'warning',
        message: expect.stringMatching(/^A mail has been waiting for 36\d\d s\.$/),
        remedy: expect.stringMatching(remedy),
      },
    ]);
  },
  LIMIT_MS,
);

test(
  'an owner of the tables that is a superuser is a warning with the statement, except in development',
  async () => {
    const copy = await installation.copy();
    const { rows } = await copy.owner.query<{ owner: string }>(
      "select tableowner as owner from pg_tables where schemaname = 'public' and tablename = 'tenants'",
    );
    const owner = rows[0]?.owner ?? '';
    const linesOf = async (env: Env = {}) =>
      (await findingsFor({ ...copy.env, ...env })).filter(({ check }) => check === 'owner');
    expect(await linesOf()).toMatchObject([{ level: 'ok' }]);
    await copy.owner.query(`alter role ${owner} superuser`);
    const found = await linesOf();
    const inDevelopment = await linesOf({ APP_ENV: 'development' });
    await copy.owner.query(`alter role ${owner} nosuperuser`);
    await copy.drop();
    expect(found).toEqual([
      {
        check: 'owner',
        level: 'warning',
        message: expect.stringMatching(
          new RegExp(`^The role ${owner}, which owns the tables, is a superuser`),
        ),
        remedy: expect.stringContaining(`Run as another superuser: alter role "${owner}" nosuperuser;`),
      },
    ]);
    // There the connection of DATABASE_URL counts as that of the owner, which is another line.
    expect(inDevelopment.filter(({ message }) => message.includes('superuser'))).toEqual([]);
  },
  LIMIT_MS,
);

/** Examines the settings only. */
async function settingsOf(env: Env): Promise<string[]> {
  const lines = await findingsFor({ ...installation.env, DATABASE_URL: undefined, ...env });
  return lines
    .filter(({ check, message }) => check === 'settings' && !message.startsWith('DATABASE_URL'))
    .map(({ level, message }) => `${level}: ${message}`);
}

/** The settings of a file that an operator copies. */
const settingsFileOf = (name: string): Env =>
  Object.fromEntries(
    readFileSync(join(projectRoot, 'deploy', 'settings', `${name}.env`), 'utf8')
      .split('\n')
      .filter((line) => /^[A-Z]/.test(line))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

describe('the settings that an operator copies and does not fill in', () => {
  const isFor = (setting: string, host: string) =>
    `warning: ${setting} has the host ${host}, which is only for examples.`;
  const NO_CONTACT =
    'warning: SECURITY_CONTACT is empty, so /.well-known/security.txt does not say who is told about a vulnerability.';

  test('are warnings in production', async () => {
    expect(await settingsOf(settingsFileOf('production'))).toEqual([
      isFor('MAIL_FROM', 'crossdock.example.com'),
      isFor('PASSWORD_RESET_URL', 'portal.example.com'),
      NO_CONTACT,
    ]);
  });

  test('are warnings in staging', async () => {
    const lines = await settingsOf({ ...settingsFileOf('staging'), MAIL_FROM: 'a@gateway.test' });
    expect(lines).toEqual([isFor('PASSWORD_RESET_URL', 'portal.staging.example.com'), NO_CONTACT]);
  });

  test('are found in every setting with a host, and none of their other parts is printed', async () => {
    const env = {
      APP_ENV: 'staging',
      MAIL_FROM: 'canary@EXAMPLE.ORG',
      SECURITY_CONTACT: 'a@gateway.test,https://security.example/canary',
      STAGING_MAIL_TO: 'canary@mail.example.net',
      STAGING_MAIL_DOMAINS: 'gateway.test,example.com',
      OUTBOUND_HOSTS: 'counterexample.com,*.hooks.example.com',
      PASSWORD_RESET_URL: 'https://canary@portal.example:8443/canary?token={token}',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318/canary',
    };
    const lines = await settingsOf(env);
    expect(lines).toEqual([
      isFor('MAIL_FROM', 'EXAMPLE.ORG'),
      isFor('PASSWORD_RESET_URL', 'portal.example'),
      isFor('SECURITY_CONTACT', 'security.example'),
      isFor('STAGING_MAIL_TO', 'mail.example.net'),
      isFor('STAGING_MAIL_DOMAINS', 'example.com'),
      isFor('OUTBOUND_HOSTS', '*.hooks.example.com'),
      isFor('OTEL_EXPORTER_OTLP_ENDPOINT', 'collector.example'),
    ]);
  });

  test('are right in development', async () => {
    const env = { ...settingsFileOf('production'), APP_ENV: 'development' };
    expect(await settingsOf(env)).toEqual(['ok: The settings for development are valid.']);
  });
});
