import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import pg from 'pg';
import { PUBLISHED } from '../../../src/config/published.js';
import { readConfig, surveyConfig } from '../../../src/config/config.js';
import { createTenant } from '../../../src/modules/tenants/tenant.js';
import { identityOfProcess } from '../../../src/config/command-settings.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import { describeDeployment, recordDeployment } from '../../../src/startup/deployment.js';
import { findRefusal } from '../../../src/startup/database-owner.js';
import { findPublished } from '../../../src/startup/published-credentials.js';
import { ask } from '../../support/service/client.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { endProcesses, freePort, run, until } from '../../support/service/processes.js';

const LIMIT_MS = 60_000;
const HOST = 'gateway.example.com';
const PASSWORD = 'a long enough secret of nobody';

const SETTINGS = {
  TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
  ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
  LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
  TRUST_PROXY: '127.0.0.1',
  LOG_LEVEL: 'error',
};

let demo: DocumentedDatabase;
let fresh: DocumentedDatabase;
/** A superuser's connection. */
let owner: pg.Client;

beforeAll(async () => {
  demo = await documentedDatabase({ demo: true });
  fresh = await documentedDatabase();
  owner = new pg.Client({ connectionString: fresh.ownerUrl });
  await owner.connect();
  const admin = { username: 'admin', fullName: 'Ada', password: PASSWORD };
  const tenant = { slug: 'miami', name: 'Miami', hosts: [HOST], warehouse: 'Miami', admin };
  await createTenant(owner, tenant, { passwordHashCost: 4 });
}, LIMIT_MS);

afterEach(endProcesses, LIMIT_MS);

afterAll(async () => {
  await owner.end();
  await Promise.all([demo.drop(), fresh.drop()]);
}, LIMIT_MS);

const urlOf = ({ urls }: DocumentedDatabase) => urls.DATABASE_URL;

async function serve(database: DocumentedDatabase, env: Record<string, string>) {
  const PORT = String(await freePort());
  const service = run('src/main.js', { ...SETTINGS, DATABASE_URL: urlOf(database), PORT, ...env });
  const url = `http://127.0.0.1:${PORT}`;
  await until(async () => {
    if (service.child.exitCode !== null) throw new Error(service.output());
    return (await ask(url, { path: '/ready' }).catch(() => undefined))?.status === 200;
  });
  return { ...service, url };
}

const logIn = (url: string, username: string, password: string) =>
  ask(url, {
    method: 'POST',
    path: '/api/login.php',
    headers: { host: HOST, 'x-forwarded-proto': 'https' },
    body: { action: 'login', username, password },
  });

describe.each(['staging', 'production'])('with the demo data, %s', (APP_ENV) => {
  test.each(['src/main.js', 'src/worker.js', 'fixtures/clone.js'])(
    '%s does not start, names the credentials and says how to remove them',
    async (program) => {
      const refused = run(program, { ...SETTINGS, APP_ENV, DATABASE_URL: urlOf(demo) });
      expect(await refused.ended).toEqual({ code: 1, signal: null });
      const lines = refused.output().trimEnd().split('\n');
      const named = [
        /^Users of the tenant demo have the published password of the demo data: admin, disabled, guarded, /,
        /^Users of the tenant two have the published password of the demo data: admin, two\./,
        /^The courier HRB of the tenant demo has a published API key of the demo data\./,
        /^The courier IEX of the tenant demo has a published API key/,
        /^The courier TWO of the tenant two has a published API key/,
      ];
      expect(lines).toEqual(named.map((each) => expect.stringMatching(each)));
      for (const line of lines) expect(line).toContain('run npm run published:remove');
      const doctor = run('src/commands/doctor.js', { ...SETTINGS, APP_ENV, DATABASE_URL: urlOf(demo) });
      expect(await doctor.ended).toEqual({ code: 1, signal: null });
      for (const each of named)
        expect(doctor.output()).toMatch(new RegExp(`^problem +demo data +${each.source.slice(1)}`, 'm'));
    },
    LIMIT_MS,
  );
});

test(
  'doctor of production says of a database of development that it needs a new one, not a command that is refused',
  async () => {
    const change = (statement: string) => withClient(demo.ownerUrl, (client) => client.query(statement));
    await change(
      "insert into installation.deployments (name, app_env, fingerprints, version) values ('development', 'development', '{}', '1')",
    );
    try {
      const env = { ...SETTINGS, APP_ENV: 'production', DATABASE_URL: urlOf(demo) };
      const doctor = run('src/commands/doctor.js', env);
      await doctor.ended;
      const lines = doctor.output().match(/^problem +demo data .*/gm) ?? [];
      expect(lines.length).toBeGreaterThan(4);
      for (const line of lines) {
        expect(line).toContain('so production needs a new database.');
        expect(line).not.toContain('published:remove');
      }
      await change("update installation.deployments set app_env = 'staging'");
      const ofStaging = run('src/commands/doctor.js', env);
      await ofStaging.ended;
      const others = ofStaging.output().match(/^problem +demo data .*/gm) ?? [];
      expect(others.length).toBeGreaterThan(4);
      for (const line of others) expect(line).toContain('First correct what the line "deployment" says');
    } finally {
      await change('delete from installation.deployments');
    }
  },
  LIMIT_MS,
);

/** Plants credentials in the tenant of a real deployment, and returns what a start finds. */
async function findAfter(plant: (tenantId: string) => Promise<unknown>): Promise<string[]> {
  const { rows } = await owner.query<{ id: string }>('select id from tenants');
  await owner.query('begin');
  try {
    await plant(rows[0]?.id ?? '');
    const config = readConfig({ ...SETTINGS, APP_ENV: 'production', DATABASE_URL: urlOf(fresh) });
    return (await findPublished(owner, config)).map(({ message }) => message);
  } finally {
    await owner.query('rollback');
  }
}

const secrets = () => openSecrets(surveyConfig({ ...SETTINGS, APP_ENV: 'production' }).config.secrets);

const addUsers = (tenantId: string, names: string[], hash: string) =>
  owner.query(
    `insert into users (tenant_id, id, username, full_name, role, password_hash)
     select $1, gen_random_uuid(), name, name, 'manager', $3 from unnest($2::text[]) name`,
    [tenantId, names, hash],
  );

describe('in the database of a real deployment, a start finds', () => {
  test('nothing, if nothing was planted', async () => {
    expect(await findAfter(async () => undefined)).toEqual([]);
  });

  test('the published password of users who were loaded together, under any names and in any tenant', async () => {
    const hash = await bcrypt.hash(PUBLISHED.password, 4);
    expect(await findAfter((id) => addUsers(id, ['x', 'y'], hash))).toEqual([
      'Users of the tenant miami have the published password of the demo data: x, y.',
    ]);
    const other = await bcrypt.hash('another password', 4);
    expect(await findAfter((id) => addUsers(id, ['x', 'y'], other))).toEqual([]);
  });

  test('the published password and authenticator secret in a demo tenant that was renamed', async () => {
    const tenantId = PUBLISHED.tenantIds.two;
    const found = await findAfter(async () => {
      await owner.query("insert into tenants (id, slug, name) values ($1, 'renamed', 'Renamed')", [tenantId]);
      await addUsers(tenantId, ['solo'], await bcrypt.hash(PUBLISHED.password, 4));
      await addUsers(tenantId, ['other'], await bcrypt.hash('another password', 4));
      const { rows } = await owner.query<{ id: string }>("select id from users where username = 'other'");
      const rowId = rows[0]?.id ?? '';
      const cipher = secrets().encrypt(PUBLISHED.totpSecret, { tenantId, rowId, field: 'totp_secret' });
      await owner.query('update users set totp_secret = $1, two_factor_enabled = true where id = $2', [
        cipher,
        rowId,
      ]);
    });
    expect(found).toEqual([
      'Users of the tenant renamed have the published password of the demo data: solo.',
      'The user other of the tenant renamed has the published authenticator secret.',
    ]);
  });

  test.each(Object.values(PUBLISHED.apiKeys))('the published API key %s of any courier', async (key) => {
    const found = await findAfter((id) =>
      owner.query(
        `insert into couriers (tenant_id, id, code, name, api_key_hash, api_key_cipher)
         values ($1, gen_random_uuid(), 'OWN', 'Own', $2, '-')`,
        [id, secrets().lookupHash(key, 'api_key')],
      ),
    );
    expect(found).toEqual(['The courier OWN of the tenant miami has a published API key of the demo data.']);
  });

  test('a deployment that used the public keys of development', async () => {
    const { config } = surveyConfig({ APP_ENV: 'development' });
    const found = await findAfter(() => recordDeployment(owner, describeDeployment(config)));
    expect(found).toEqual([
      expect.stringMatching(
        /^The deployment development \(APP_ENV=development\) has used this database with the public development values of ENCRYPTION_KEYS and LOOKUP_KEY/,
      ),
    ]);
  });
});

test(
  'outside of development nobody logs in with the published password, also a user whom the start does not find',
  async () => {
    const { rows } = await owner.query<{ id: string }>('select id from tenants');
    await addUsers(rows[0]?.id ?? '', ['alone'], await bcrypt.hash(PUBLISHED.password, 4));
    const service = await serve(fresh, { APP_ENV: 'production' });
    expect(await logIn(service.url, 'alone', PUBLISHED.password)).toMatchObject({ status: 401 });
    expect(await logIn(service.url, 'admin', PASSWORD)).toMatchObject({ status: 200 });
    await owner.query("delete from users where username = 'alone'");
  },
  LIMIT_MS,
);

describe('the keys of the deployment that has used a database', () => {
  const FIRST = `1:${'0123456789abcdef'.repeat(4)}`;
  const SECOND = `2:${'02468ace13579bdf'.repeat(4)}`;

  /** Returns the refusal of a process with these keys after others have used the database. */
  async function refusalAfter(
    earlier: Record<string, string>,
    later: Record<string, string>,
  ): Promise<string | undefined> {
    const settings = { ...SETTINGS, APP_ENV: 'production', DATABASE_URL: urlOf(fresh) };
    await owner.query('begin');
    try {
      await owner.query('delete from installation.deployments');
      await recordDeployment(owner, describeDeployment(readConfig({ ...settings, ...earlier })));
      return await findRefusal(owner, identityOfProcess(readConfig({ ...settings, ...later })));
    } finally {
      await owner.query('rollback');
    }
  }

  test.each<[string, Record<string, string>, Record<string, string>, string]>([
    ['the database of staging', { APP_ENV: 'staging' }, {}, ', so APP_ENV=production is refused, '],
    [
      'all keys of another deployment',
      { ENCRYPTION_KEYS: FIRST },
      { ENCRYPTION_KEYS: SECOND },
      ' with other ENCRYPTION_KEYS, and none of them is in the setting',
    ],
    [
      'another LOOKUP_KEY',
      {},
      { LOOKUP_KEY: '02468ace13579bdf'.repeat(4) },
      ' with another LOOKUP_KEY, and nothing was changed. ',
    ],
  ])('must be the same: %s is refused', async (_what, earlier, later, reason) => {
    const refusal = await refusalAfter(earlier, later);
    expect(refusal).toMatch(/^The deployment \w+ \(APP_ENV=\w+\) has used this database/);
    expect(refusal).toContain(reason);
  });

  test.each([
    ['the same keys', { ENCRYPTION_KEYS: FIRST }, { ENCRYPTION_KEYS: FIRST }],
    ['a new key before the old one', { ENCRYPTION_KEYS: FIRST }, { ENCRYPTION_KEYS: `${SECOND},${FIRST}` }],
    ['the new key alone', { ENCRYPTION_KEYS: `${SECOND},${FIRST}` }, { ENCRYPTION_KEYS: SECOND }],
    [
      'a replica with the old settings',
      { ENCRYPTION_KEYS: `${SECOND},${FIRST}` },
      { ENCRYPTION_KEYS: FIRST },
    ],
    ['other TOKEN_KEYS', {}, { TOKEN_KEYS: `n:${'new-key-0123'.repeat(4)}` }],
    ['another name of the deployment', {}, { DEPLOYMENT: 'miami' }],
  ])('allow %s', async (_what, earlier, later) => {
    expect(await refusalAfter(earlier, later)).toBeUndefined();
  });

  test('stop a server and a worker, with the line and nothing written', async () => {
    const config = readConfig({ ...SETTINGS, APP_ENV: 'staging', DATABASE_URL: urlOf(fresh) });
    await owner.query('delete from installation.deployments');
    await recordDeployment(owner, describeDeployment(config));
    for (const program of ['src/main.js', 'src/worker.js']) {
      const env = { ...SETTINGS, APP_ENV: 'production', DATABASE_URL: urlOf(fresh), ENCRYPTION_KEYS: SECOND };
      const refused = run(program, env);
      expect([await refused.ended, refused.output()]).toEqual([
        { code: 1, signal: null },
        expect.stringMatching(
          /^The deployment staging \(APP_ENV=staging\) has used this database, so APP_ENV=production is refused, [^\n]+\n$/,
        ),
      ]);
    }
    const { rows } = await owner.query('delete from installation.deployments returning app_env');
    expect(rows).toEqual([{ app_env: 'staging' }]);
  }, 60_000);
});

test(
  'remove-published replaces all of them, and the service starts',
  async () => {
    const env = {
      ...SETTINGS,
      APP_ENV: 'production',
      DATABASE_URL: urlOf(demo),
      DATABASE_OWNER_URL: demo.urls.DATABASE_OWNER_URL,
    };
    const first = run('src/commands/remove-published.js', env);
    expect([await first.ended, first.output().split('\n')]).toEqual([
      { code: 0, signal: null },
      [
        'Removed the host names of the demo tenants: *, two.localhost',
        'demo: disabled the users admin, disabled, guarded, hrb, iex, manager, warehouse',
        'demo: removed the API keys of HRB, IEX',
        'two: disabled the users admin, two',
        'two: removed the API keys of TWO',
        'Start the service again.',
        '',
      ],
    ]);
    const service = await serve(demo, { APP_ENV: 'production' });
    expect(await logIn(service.url, 'admin', PUBLISHED.password)).not.toMatchObject({ status: 200 });
    const second = run('src/commands/remove-published.js', env);
    expect([await second.ended, second.output()]).toEqual([
      { code: 0, signal: null },
      'There is no published credential.\n',
    ]);
    const client = new pg.Client({ connectionString: demo.ownerUrl });
    await client.connect();
    await recordDeployment(client, describeDeployment(surveyConfig({ APP_ENV: 'development' }).config));
    await client.end();
    const third = run('src/commands/remove-published.js', env);
    expect([await third.ended, third.output()]).toEqual([
      { code: 1, signal: null },
      expect.stringMatching(
        /^The deployment development [^\n]+ public development values [^\n]+ Use a new database\. [^\n]+\n$/,
      ),
    ]);
  },
  LIMIT_MS,
);
