import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import { findMisspelt } from '../../../src/startup/shared-checks/misspelt-settings.js';
import { surveyConfig } from '../../../src/config/config.js';
import { readSecretValues } from '../../../src/startup/doctor/secrets/secret-values.js';
import { describeDeployment } from '../../../src/startup/deployment.js';
import { hashSecrets } from '../../../src/startup/doctor/secrets/secret-hashes.js';
import { startSes, type Ses } from '../../support/receivers/ses.js';
import { freePort, removeFolders } from '../../support/service/processes.js';
import { certificate } from './certificates/certificates.js';
import { findingsFor, makeInstallation, type Env, type Installation, type Stated } from './installation.js';

const LIMIT_MS = 60_000;
const DAY_MS = 86_400_000;

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
  const admin = new pg.Client({ connectionString: process.env['TEST_ADMIN_URL'] });
  await admin.connect();
  await admin.query('drop role if exists doctor_owner');
  await admin.end();
  await ses.stop();
  await removeFolders();
}, LIMIT_MS);

type Expected = [check: string, level: 'warning' | 'problem', message: RegExp];

type Fault = {
  title: string;
  /** Changed settings. */
  env?: (env: Env, ownerUrl: string) => Env | Promise<Env>;
  /** A statement of the owner on a copy of the database. */
  sql?: string | ((owner: pg.Client) => Promise<unknown>);
  stated?: Stated;
  /** Every warning and problem that it causes. */
  sees: Expected[];
  /** It also makes other checks fail, which are not listed. */
  andOthers?: boolean;
};

const LAST = 'select max(migration_name) from _prisma_migrations';

/** Adds a courier whose webhook secret was encrypted with another key of this version. */
const addCourierOfKey = (version: string) => (owner: pg.Client) => {
  const keys = { version, key: randomBytes(32) };
  const secrets = openSecrets({ encryptionKeys: [keys], lookupKey: randomBytes(32) });
  return owner.query(
    `insert into couriers (tenant_id, id, code, name, webhook_secret_cipher)
     select id, gen_random_uuid(), 'ENC', 'Encrypted', $1 from tenants`,
    [secrets.encrypt('secret', { tenantId: '', rowId: '', field: 'webhook_secret' })],
  );
};

/** Adds customers and a pre-alert with texts from before decision 0074. */
const addUncleanTexts = (owner: pg.Client) =>
  owner.query(
    `with courier as (
       insert into couriers (tenant_id, id, code, name)
       select id, gen_random_uuid(), 'TXT', 'Texts' from tenants returning tenant_id, id
     ), customer as (
       insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
       select tenant_id, gen_random_uuid(), id, user_code, 'Ann', 'Lee'
       from courier, unnest(array['A-1 ', U&'B\\200B-1', '1.23457E+11', 'C-1']) as user_code
       returning tenant_id, courier_id, user_code
     )
     insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key)
     select tenant_id, gen_random_uuid(), courier_id, user_code, '9.40011E+21', '9.40011E+21'
     from customer where user_code = 'C-1'`,
  );

/** Installations, each with all faults of its list. Faults that hide each other are in different ones. */
const INSTALLATIONS: Fault[][] = [
  [
    {
      title: 'two faults in the settings',
      env: () => ({ PORT: 'http', LOG_LEVEL: 'loud' }),
      sees: [
        ['settings', 'problem', /^PORT must be integer/],
        ['settings', 'problem', /^LOG_LEVEL must be/],
      ],
    },
    {
      title: 'a guessable secret',
      env: () => ({ TOKEN_KEYS: `1:${'abc'.repeat(16)}` }),
      sees: [
        ['settings', 'problem', /^TOKEN_KEYS holds a secret of very few different characters/],
        ['deployment', 'problem', /with another key of the name 1 in TOKEN_KEYS/],
      ],
    },
    {
      title: 'a key that does not belong to the certificate',
      env: () => certificate(['authority']),
      sees: [
        ['settings', 'problem', /cannot be used/],
        ['tls', 'problem', /^TLS_KEY_FILE does not belong to the certificate/],
      ],
    },
    {
      title: 'a time zone that is not UTC',
      sql: databaseSetting("timezone = 'America/Jamaica'"),
      sees: [['time zone', 'warning', /is America\/Jamaica/]],
    },
    {
      title: 'a table without autovacuum',
      sql: 'alter table packages set (autovacuum_enabled = false)',
      sees: [['autovacuum', 'warning', /for the table packages/]],
    },
    {
      title: 'an index whose build failed',
      sql: "update pg_index set indisvalid = false where indexrelid = 'webhook_deliveries_due'::regclass",
      sees: [['migrations', 'problem', /^The index webhook_deliveries_due is invalid/]],
    },
    {
      title: 'a function that the service may not call',
      sql: 'revoke execute on function search_prealerts from crossdock_app',
      sees: [['schema', 'problem', /lacks execute on function public\.search_prealerts\(/]],
    },
    {
      title: 'a table that the service may not read',
      sql: 'revoke select on carriers from crossdock_app',
      sees: [['schema', 'problem', /^The role crossdock_app lacks select on public\.carriers/]],
    },
    {
      title: 'a replica that is away',
      env: ({ DATABASE_URL: url = '' }) => ({
        DATABASE_REPLICA_URL: Object.assign(new URL(url), { port: '1' }).href,
      }),
      sees: [['replica', 'warning', /^The replica serves no reports: .*ECONNREFUSED/]],
    },
    {
      title: 'a pause of outbound work',
      sql: "update installation.outbound set paused_at = now(), paused_because = 'A restore.'",
      sees: [['pause', 'warning', /^Outbound work is paused since .*: A restore\.$/]],
    },
    {
      title: 'a tenant that is being moved',
      sql: `insert into installation.tenant_cells (tenant_id, state, role, other_cell)
      values (gen_random_uuid(), 'moved', 'source', 'cell-b'), (gen_random_uuid(), 'gone', 'source', 'cell-b')`,
      sees: [
        [
          'moves',
          'warning',
          /^Tenants of this cell are in the cell cell-b, which DATABASE_CELLS does not name/,
        ],
        ['moves', 'warning', /^The tenant [0-9a-f-]{36} is being moved, with the cell cell-b: moved since /],
      ],
    },
  ],
  [
    {
      title: 'the public development value of a secret',
      env: () => ({ LOOKUP_KEY: 'd1'.repeat(32) }),
      sees: [
        ['settings', 'problem', /^LOOKUP_KEY holds the public development value/],
        ['deployment', 'problem', /has used this database with another LOOKUP_KEY/],
        ['audit', 'problem', /does not verify/],
      ],
    },
    {
      title: 'a chain that begins with the authority',
      env: () => certificate(['authority', 'server']),
      sees: [
        ['settings', 'problem', /cannot be used/],
        ['tls', 'problem', /is number 2 in TLS_CERT_FILE/],
        ['tls', 'problem', /^Certificate 2 in TLS_CERT_FILE did not issue certificate 1/],
      ],
    },
    {
      title: 'much that waits for one courier, although nothing is late',
      sql: `insert into couriers (tenant_id, id, code, name)
          select id, '01930a3e-7c1d-7e11-9c5a-2f4b8d6e0d99', 'AWAY', 'Away' from tenants;
        alter table webhook_deliveries disable trigger all;
        insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint, origin, status, attempt_count, next_attempt_at)
          select t.id, gen_random_uuid(), gen_random_uuid(), '01930a3e-7c1d-7e11-9c5a-2f4b8d6e0d99', 'add_package', 'event',
            'pending', 0, now() + interval '1 hour' from tenants t, generate_series(1, 1001)`,
      sees: [['backlog', 'warning', /^1001 of kind webhook wait for the courier AWAY of the tenant miami, /]],
    },
    {
      title: 'a disk with little space',
      stated: { lowDiskBytes: Number.MAX_SAFE_INTEGER },
      sees: [['folders', 'warning', /temporary folder .* has only \d+ MB free/]],
    },
    {
      title: 'a database that only accepts reads',
      sql: databaseSetting('default_transaction_read_only = on'),
      sees: [['server', 'problem', /^default_transaction_read_only is on/]],
    },
    {
      title: 'more connections than PostgreSQL grants',
      env: () => ({ POOL_SIZE: '100' }),
      stated: { servers: 3, workers: 2 },
      sees: [
        [
          'connections',
          'problem',
          /^3 servers that also run the worker \(RUN_WORKER=true\) and 2 separate workers open up to 820 connections/,
        ],
      ],
    },
    {
      title:
        'migrations of a later version, of which one needs a stop, so only the others are right after a rollback',
      sql: `insert into _prisma_migrations (id, checksum, migration_name, finished_at, logs) values
        ('x', 'x', '29991229000000_later', now(), null), ('y', 'y', '29991230000000_last', now(), null),
        ('z', 'z', '29991231000000_stop', now(), 'upgrade: stop')`,
      sees: [
        [
          'migrations',
          'warning',
          /^A later release has applied 29991229000000_later, 29991230000000_last\.$/,
        ],
        ['migrations', 'problem', /^29991231000000_stop is applied, and unknown to this version/],
      ],
    },
    {
      title: 'a replica that a failover has promoted',
      env: ({ DATABASE_URL }) => ({ DATABASE_REPLICA_URL: DATABASE_URL }),
      sees: [
        [
          'replica',
          'warning',
          /^The replica serves no reports: The server of DATABASE_REPLICA_URL is not a standby/,
        ],
      ],
    },
  ],
  [
    {
      title: 'a disk without space',
      sql: `create function no_space() returns event_trigger language plpgsql as $$
              begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
            create event trigger no_space on ddl_command_start when tag in ('CREATE TABLE') execute function no_space()`,
      sees: [
        ['storage', 'problem', /^The database stores nothing: could not extend file/],
        ['schema', 'warning', /^The function public\.no_space\(\) is unknown/],
      ],
    },
    {
      title: 'one value in two settings',
      env: (env) => ({ ENCRYPTION_KEYS: `1:${env['LOOKUP_KEY']}` }),
      sees: [
        ['settings', 'problem', /^LOOKUP_KEY and ENCRYPTION_KEYS contain the same secret; give LOOKUP_KEY /],
        ['deployment', 'problem', /has used this database with other ENCRYPTION_KEYS/],
      ],
    },
    {
      title: 'a chain with a certificate that issued nothing',
      env: () => certificate(['server', 'server']),
      sees: [['tls', 'problem', /^Certificate 2 in TLS_CERT_FILE did not issue certificate 1/]],
    },
    {
      title: 'SES without credentials',
      env: () => {
        delete process.env['AWS_ACCESS_KEY_ID'];
        return {};
      },
      sees: [['mail', 'problem', /^There are no credentials for Amazon SES/]],
    },
    {
      title: 'a host name that the certificate does not have',
      sql: "insert into tenant_hosts (tenant_id, host) select id, 'other.example' from tenants",
      sees: [
        [
          'host names',
          'problem',
          /^The certificate in TLS_CERT_FILE does not have the host name other\.example/,
        ],
      ],
    },
    {
      title: 'clocks that differ by ten seconds',
      stated: { now: () => new Date(Date.now() - 10_000) },
      sees: [['clock', 'warning', /differ by (9|10|11) s/]],
    },
    {
      title: 'a migration that was changed',
      sql: "update _prisma_migrations set checksum = 'other' where migration_name like '%_bills'",
      sees: [['migrations', 'problem', /_bills is not the script that was applied/]],
    },
    {
      title: 'a service that may change the audit log and truncate a table',
      sql: 'grant update on audit_entries to crossdock_app; grant truncate on packages to crossdock_app',
      sees: [
        ['schema', 'problem', /crossdock_app has truncate on public\.packages, which/],
        ['schema', 'problem', /crossdock_app has update on public\.audit_entries, which/],
      ],
    },
    {
      title: 'a setting whose name is misspelt',
      stated: { misspelt: findMisspelt({ API_PROCESES: '2', API_PROCESSES: '2' }) },
      sees: [
        [
          'settings',
          'warning',
          /^API_PROCESES is no setting, and is not used\. It resembles API_PROCESSES\.$/,
        ],
      ],
    },
    {
      title: 'no worker',
      sql: 'delete from queue.worker_pools',
      sees: [['worker', 'warning', /^No worker has a recent heartbeat\./]],
    },
  ],
  [
    {
      title: 'no worker, although the operator says that one runs',
      stated: { workers: 1 },
      sql: 'delete from queue.worker_pools',
      sees: [['worker', 'problem', /^No worker has a recent heartbeat, although/]],
    },
  ],
  [
    {
      title: 'a certificate that cannot be read',
      env: () => ({ TLS_CERT_FILE: '/nowhere/chain.pem' }),
      sees: [
        ['settings', 'problem', /cannot be used/],
        ['tls', 'problem', /^TLS_CERT_FILE cannot be read/],
      ],
    },
    {
      title: 'SES that is not reachable',
      env: async () => ({ SES_ENDPOINT: `http://127.0.0.1:${await freePort()}` }),
      sees: [['mail', 'problem', /is not reachable: .*ECONNREFUSED/]],
    },
    {
      title: "an owner's connection that does not work",
      env: async () => ({
        DATABASE_OWNER_URL: `postgres://u:${'q'.repeat(20)}@127.0.0.1:${await freePort()}/x`,
      }),
      sees: [
        ['database', 'problem', /^DATABASE_OWNER_URL: Cannot connect.*ECONNREFUSED/],
        ['pooler', 'problem', /ECONNREFUSED/],
      ],
    },
    {
      title: 'a table that everybody may read',
      sql: 'grant select on users to public',
      sees: [['schema', 'problem', /^Everybody has select on public\.users, which/]],
    },
    {
      title: 'no worker, and a job that waits for it',
      sql: `delete from queue.worker_pools; ${addJob("now() - interval '1 hour'", 5)}`,
      sees: [
        ['worker', 'problem', /^No worker runs, and jobs wait/],
        ['backlog', 'warning', /^A job sweep has been waiting for 36\d\d s/],
      ],
    },
    {
      title: 'an encrypted field that another key of the same version encrypted',
      sql: addCourierOfKey('1'),
      sees: [
        [
          'encryption',
          'problem',
          /^1 fields couriers\.webhook_secret_cipher cannot be decrypted: the key of its/,
        ],
      ],
    },
  ],
  [
    {
      title: 'an outbox that is below a file, without SES',
      env: (env) => ({ ...withoutSes, MAIL_OUTBOX: `${env['TLS_CERT_FILE']}/outbox` }),
      sees: [
        ['folders', 'problem', /^MAIL_OUTBOX.* cannot be used/],
        ['mail', 'warning', /^Mail is only written to files/],
      ],
    },
    {
      title: 'certificates that have expired, by a clock that is wrong',
      stated: { now: () => new Date(Date.now() + 200 * 365 * DAY_MS) },
      sees: [
        ['tls', 'problem', /^Certificate 1 in TLS_CERT_FILE expired on/],
        ['tls', 'problem', /^Certificate 2 in TLS_CERT_FILE expired on/],
        ['clock', 'problem', /differ by \d+ s/],
      ],
    },
    {
      title: 'a limit of the database that leaves nothing for operators',
      sql: (owner) => onDatabase(owner, (name) => `alter database ${name} connection limit 16`),
      sees: [['connections', 'warning', /PostgreSQL grants 16/]],
    },
    {
      title: 'migrations in another order',
      sql: "update _prisma_migrations set started_at = now() + interval '1 s' where migration_name like '%_bill_rules'",
      sees: [['migrations', 'warning', /_bill_rules was applied after/]],
    },
    {
      title: 'a job that was given up',
      sql: `${addJob('now()', 1)}; update graphile_worker._private_jobs set attempts = 1`,
      sees: [['backlog', 'warning', /^1 jobs sweep have failed all attempts/]],
    },
    {
      title: 'a background migration that is paused, and one that fails',
      sql: `insert into installation.background_migrations (name, status, rows_total, last_error)
      values ('one', 'paused', 1, null), ('two', 'running', 1, 'division by zero')`,
      sees: [
        ['background', 'warning', /^The background migration one is paused/],
        ['background', 'problem', /^The background migration two fails: division by zero/],
      ],
    },
    {
      title: 'an audit entry that no worker appends',
      sql: `alter table audit_unsealed no force row level security; insert into audit_unsealed (tenant_id, at, entry_id)
      select id, now() - interval '1 hour', gen_random_uuid() from tenants;
      alter table audit_unsealed force row level security`,
      sees: [['audit', 'warning', /has been waiting for its link for 36\d\d s/]],
    },
    {
      title: 'a user code with an invisible character, and numbers that a spreadsheet has shortened',
      sql: addUncleanTexts,
      sees: [
        ['texts', 'warning', /^2 user codes have white space around them/],
        ['texts', 'warning', /^1 user codes are what a spreadsheet left/],
        ['texts', 'warning', /^1 pending pre-alerts have what/],
      ],
    },
    {
      title: 'an encrypted field whose key is missing',
      sql: addCourierOfKey('7'),
      sees: [['encryption', 'problem', /No encryption key of version 7 is configured/]],
    },
  ],
  [
    {
      title: 'the demo data in production',
      sql: (owner) =>
        owner.query("insert into tenants (id, slug, name) values ($1, 'demo', 'Demo')", [DEMO.tenants.demo]),
      sees: [['demo data', 'warning', /contains the demo tenant/]],
    },
    {
      title: 'a missing extension',
      sql: 'drop extension pg_trgm cascade',
      sees: [['extensions', 'problem', /^The extension pg_trgm is not installed/]],
    },
    {
      title: 'an altered entry of the audit log',
      sql: `alter table audit_entries disable trigger all; alter table audit_entries no force row level security;
      update audit_entries set remarks = 'altered';
      alter table audit_entries enable trigger all; alter table audit_entries force row level security`,
      sees: [['audit', 'problem', /does not verify at link 1 of 1: altered/]],
    },
    {
      title: 'more connections than PostgreSQL grants, without workers in the servers',
      env: () => ({ POOL_SIZE: '100', RUN_WORKER: 'false' }),
      stated: { servers: 3, workers: 2 },
      sees: [
        [
          'connections',
          'problem',
          /^3 servers without the worker \(RUN_WORKER=false\) and 2 separate workers open up to 508 connections/,
        ],
      ],
    },
  ],
  [
    {
      title: 'a migration that is missing',
      sql: `delete from _prisma_migrations where migration_name = (${LAST})`,
      sees: [['migrations', 'problem', /is missing\.$/]],
    },
  ],
  [
    {
      title: 'a migration that is missing between others',
      sql: "delete from _prisma_migrations where migration_name like '%_bills'",
      sees: [['migrations', 'problem', /_bills is missing, although later migrations are applied/]],
    },
    {
      title: 'a migration that did not finish',
      sql: `update _prisma_migrations set finished_at = null where migration_name = (${LAST})`,
      sees: [['migrations', 'problem', /began and did not finish/]],
    },
  ],
  [
    {
      title: 'a search_path of the login, without calling any migration missing',
      sql: databaseSetting('search_path = evil'),
      sees: [
        [
          'migrations',
          'problem',
          /^The schemas that search_path names are pg_catalog, not pg_catalog, public/,
        ],
      ],
    },
  ],
  [
    {
      title: 'an owner of the tables that may not apply migrations',
      // The owner of the tests is a superuser, so another role owns the tables here.
      sql: async (owner: pg.Client) => {
        await owner.query(
          `do $$ begin create role doctor_owner nologin; exception when duplicate_object then null; end $$`,
        );
        const { rows } = await owner.query<{ statement: string }>(
          `select format('alter table %s owner to doctor_owner', oid::regclass) as statement from pg_class
           where relnamespace = 'public'::regnamespace and relkind = 'r'`,
        );
        for (const { statement } of rows) await owner.query(statement);
      },
      sees: [
        [
          'owner',
          'problem',
          /^The role doctor_owner may not create schemas in the database \w+, which belongs to/,
        ],
        ['owner', 'problem', /^The role doctor_owner may not create tables in the schema public/],
        ['owner', 'problem', /^The role doctor_owner is not a member of crossdock_lookup/],
      ],
      andOthers: true,
    },
  ],
  [
    {
      title: 'a database that is not reachable',
      env: async () => ({ DATABASE_URL: `postgres://u:${'p'.repeat(20)}@127.0.0.1:${await freePort()}/x` }),
      sees: [['database', 'problem', /^DATABASE_URL: Cannot connect.*ECONNREFUSED/]],
    },
  ],
  [
    {
      title: 'no database URL in production',
      env: () => ({ DATABASE_URL: undefined }),
      sees: [
        ['settings', 'problem', /^DATABASE_URL is required in production/],
        ['database', 'problem', /^There is no database to examine/],
      ],
    },
  ],
  [
    {
      title: 'every address as a trusted proxy',
      env: () => ({ TRUST_PROXY: '127.0.0.1,0.0.0.0/0' }),
      sees: [['settings', 'warning', /^TRUST_PROXY contains 0\.0\.0\.0\/0/]],
    },
  ],
  [
    {
      title: 'a login that is the superuser and owner',
      env: (_env, ownerUrl) => ({ DATABASE_URL: ownerUrl }),
      sees: [['rights', 'problem', /could bypass row-level security: the role \w+ is a superuser/]],
      andOthers: true,
    },
  ],
  [
    {
      title: 'a typing error in the name of the deployment, in one line',
      env: () => ({ DEPLOYMENT: 'prodution' }),
      sees: [
        [
          'deployment',
          'problem',
          /^This database was used by the deployment production \(APP_ENV=production\)/,
        ],
      ],
    },
  ],
  [
    {
      title: 'a database copied from production and opened as staging, which mails nobody and calls no host',
      env: () => ({ APP_ENV: 'staging' }),
      sees: [
        ['recipients', 'warning', /^Nobody is mailed/],
        ['outbound', 'warning', /^No host of a courier is called/],
        ['deployment', 'problem', /was used by the deployment production \(APP_ENV=production\)/],
        ['deployment', 'problem', /^TOKEN_KEYS contains a secret of the deployment production/],
        ['deployment', 'problem', /^ENCRYPTION_KEYS contains a secret of the deployment production/],
        ['deployment', 'problem', /^LOOKUP_KEY contains a secret of the deployment production/],
      ],
    },
  ],
];

const withoutSes = { SES_REGION: undefined, SES_ENDPOINT: undefined };

function addJob(runAt: string, attempts: number): string {
  return `select graphile_worker.add_job('sweep', run_at => ${runAt}, max_attempts => ${attempts})`;
}

function databaseSetting(setting: string) {
  return (owner: pg.Client) => onDatabase(owner, (name) => `alter database ${name} set ${setting}`);
}

async function onDatabase(owner: pg.Client, statement: (name: string) => string): Promise<void> {
  const { rows } = await owner.query('select quote_ident(current_database()) as name');
  await owner.query(statement(rows[0].name));
}

/** The server of the tests is fast instead of durable, and another one may trust everybody: durability.test.ts and passwords.test.ts have their own. */
const OF_THE_SERVER = ['durability', 'password'];
const faultsOf = (lines: Awaited<ReturnType<typeof findingsFor>>) =>
  lines.filter(({ check, level }) => level !== 'ok' && !OF_THE_SERVER.includes(check));

/** Examines a copy of the installation that has these faults. */
async function examineWith(faults: Fault[]) {
  const copy = await installation.copy();
  try {
    let env = copy.env;
    for (const fault of faults) {
      if (typeof fault.sql === 'string') await copy.owner.query(fault.sql);
      else await fault.sql?.(copy.owner);
      env = { ...env, ...(await fault.env?.(copy.env, copy.ownerUrl)) };
    }
    return await findingsFor(env, Object.assign({}, ...faults.map(({ stated }) => stated)));
  } finally {
    await copy.drop();
    process.env['AWS_ACCESS_KEY_ID'] = 'test';
  }
}

const toLine = ([check, level, message]: Expected) => ({
  check,
  level,
  message: expect.stringMatching(message),
  remedy: expect.stringMatching(/\S/),
});

/** All checks, in the order of their findings. */
// prettier-ignore
const CHECKS = [
  'settings', 'secrets', 'tls', 'folders', 'mail', 'recipients', 'outbound', 'database', 'server', 'durability', 'storage', 'clock', 'time zone',
  'autovacuum', 'pooler', 'connections', 'migrations', 'owner', 'roles', 'password', 'extensions', 'rights', 'schema', 'deployment', 'demo data', 'host names', 'replica',
  'worker', 'pause', 'backlog', 'webhooks', 'background', 'moves', 'audit', 'encryption', 'texts',
];

describe('npm run doctor', () => {
  test(
    'a production installation without a fault has no warning and no problem, and every check reports',
    async () => {
      const copy = await installation.copy();
      const lines = await findingsFor(copy.env);
      await copy.drop();
      expect(faultsOf(lines)).toEqual([]);
      expect([...new Set(lines.map(({ check }) => check))]).toEqual(CHECKS);
    },
    LIMIT_MS,
  );

  describe.each(INSTALLATIONS.map((faults, n) => ({ faults, number: n + 1 })))(
    'on installation $number',
    ({ faults }) => {
      let lines: Awaited<ReturnType<typeof findingsFor>>;

      beforeAll(async () => {
        lines = faultsOf(await examineWith(faults));
      }, LIMIT_MS);

      test.each(faults)('finds $title', ({ sees }) => {
        expect(lines).toEqual(expect.arrayContaining(sees.map(toLine)));
      });

      if (!faults.some(({ andOthers }) => andOthers))
        test('has no other finding', () => {
          expect(lines).toHaveLength(faults.flatMap(({ sees }) => sees).length);
        });
    },
  );

  test(
    'finds a secret that is also in the report of another deployment',
    async () => {
      const copy = await installation.copy();
      const staging = { ...copy.env, LOOKUP_KEY: randomBytes(32).toString('hex') };
      const deployment = { ...describeDeployment(surveyConfig(staging).config), name: 'staging' };
      const own = readSecretValues(copy.env);
      const secrets = await hashSecrets(readSecretValues(staging));
      const lines = await findingsFor(copy.env, { other: { deployment, own, secrets } });
      // The report of an earlier version has only the fingerprints of keys.
      const earlier = faultsOf(await findingsFor(copy.env, { other: { deployment, own } }));
      await copy.drop();
      const shared = ['DATABASE_URL', 'TOKEN_KEYS', 'ENCRYPTION_KEYS', 'TLS_KEY_FILE'].map(
        (name) => `${name} contains a secret of the deployment staging (APP_ENV=production).`,
      );
      expect(faultsOf(lines).map(({ message }) => message)).toEqual(shared);
      expect(lines.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(
          /^Compared with the report, these secrets are different: LOOKUP_KEY\. No longer set: none\. .* read: DATABASE_DIRECT_URL, /,
        ),
      );
      expect(earlier.map(({ message }) => message)).toEqual([
        ...shared.slice(1, 3),
        expect.stringMatching(/^The report has no comparable hashes/),
      ]);
    },
    LIMIT_MS,
  );
});
