import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { surveyConfig } from '../../../src/config/config.js';
import { appendAllToChains } from '../../../src/modules/audit-log/append-to-chain.js';
import { createTenant } from '../../../src/modules/tenants/tenant.js';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { openDb } from '../../../src/platform/db/open-database.js';
import { describeDeployment, recordDeployment } from '../../../src/startup/deployment.js';
import { examine } from '../../../src/startup/doctor/doctor.js';
import type { ReportLine } from '../../../src/startup/doctor/report.js';
import type { Subject } from '../../../src/startup/doctor/checks/subject.js';
import { admitOnly } from '../../support/service/database.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { certificate } from './certificates/certificates.js';

export type Env = Record<string, string | undefined>;

/** A production installation without a problem, and copies of its database. */
export type Installation = {
  /** The settings, with the URL of a copy. */
  env: Env;
  copy(): Promise<Copy>;
  drop(): Promise<void>;
};

export type Copy = { env: Env; owner: pg.Client; ownerUrl: string; drop(): Promise<void> };

const secret = () => randomBytes(32).toString('hex');

/** @param sesUrl a server that responds like Amazon SES */
export async function makeInstallation(sesUrl: string): Promise<Installation> {
  // As docs/deploy.md describes: the owner of the tables is no superuser.
  const database = await documentedDatabase();
  const { login } = database;
  const password = secret();
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  // The default of 4,096 iterations costs milliseconds for each of an examination's connections. PostgreSQL 15 has no such setting.
  await owner.query(
    "select set_config('scram_iterations', '1', false) where current_setting('server_version_num')::int >= 160000",
  );
  await owner.query(`alter role ${login} password '${password}'`);
  const url = Object.assign(new URL(database.ownerUrl), { username: login, password }).href;
  const env: Env = {
    APP_ENV: 'production',
    DATABASE_URL: url,
    TOKEN_KEYS: `1:${secret()}`,
    ENCRYPTION_KEYS: `1:${secret()}`,
    LOOKUP_KEY: secret(),
    ...(await certificate(['server', 'authority'])),
    SES_REGION: 'eu-west-1',
    SES_ENDPOINT: sesUrl,
    MAIL_FROM: 'warehouse@gateway.test',
    SECURITY_CONTACT: 'security@gateway.test',
    POOL_SIZE: '5',
  };
  await fill(owner, env);
  await owner.end();
  await admitOnly(database.ownerUrl, login);
  return {
    env,
    copy: () => copyDatabase(database, env),
    drop: () => database.drop(),
  };
}

/** A tenant with an audit chain, a worker's heartbeat, and the record of this deployment. */
async function fill(owner: pg.Client, env: Env): Promise<void> {
  const { config } = surveyConfig(env);
  await createTenant(
    owner,
    {
      slug: 'miami',
      name: 'Miami Gateway',
      hosts: ['gateway.example'],
      warehouse: 'Miami',
      admin: { username: 'ada', fullName: 'Ada', password: secret() },
    },
    { passwordHashCost: 4 },
  );
  const db = openDb({ url: config.databaseUrl ?? '', size: 1, onError: () => undefined });
  const secrets = openSecrets(config.secrets);
  await appendAllToChains({ db, secrets, stopping: new AbortController().signal });
  await db.close();
  await withClient(config.databaseUrl ?? '', (client) =>
    recordDeployment(client, describeDeployment(config)),
  );
  await owner.query(
    "insert into queue.worker_pools (id, seen_at) values ('worker', now() + interval '1 hour')",
  );
}

async function copyDatabase({ name: template, owner: role }: DocumentedDatabase, env: Env): Promise<Copy> {
  const name = `${template}_${randomBytes(4).toString('hex')}`;
  await asAdmin((admin) =>
    admin.query(`create database "${name}" owner "${role}" template "${template}" strategy file_copy`),
  );
  const at = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const ownerUrl = at(String(process.env['TEST_ADMIN_URL']));
  await admitOnly(ownerUrl, new URL(env['DATABASE_URL'] ?? '').username);
  const owner = new pg.Client({ connectionString: ownerUrl });
  owner.on('error', () => undefined);
  await owner.connect();
  return {
    env: { ...env, DATABASE_URL: at(env['DATABASE_URL'] ?? '') },
    owner,
    ownerUrl,
    async drop() {
      await owner.end();
      await asAdmin((admin) => admin.query(`drop database if exists "${name}" with (force)`));
    },
  };
}

async function asAdmin(work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: process.env['TEST_ADMIN_URL'] });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

export type Stated = Partial<Omit<Subject, 'config' | 'faults'>>;

/** Returns the findings of one check, each with its level, message and remedy. */
export async function textsOf(check: string, env: Env): Promise<string[]> {
  const lines = await findingsFor(env);
  return lines
    .filter((line) => line.check === check)
    .map((line) => `${line.level}: ${line.message} ${'remedy' in line ? line.remedy : ''}`);
}

/** Returns all findings about these settings. */
export async function findingsFor(env: Env, stated: Stated = {}): Promise<ReportLine[]> {
  const { lines } = await examine({
    ...surveyConfig(env),
    misspelt: [],
    now: () => new Date(),
    servers: 1,
    workers: 0,
    lowDiskBytes: 0,
    other: undefined,
    ...stated,
  });
  return lines;
}
