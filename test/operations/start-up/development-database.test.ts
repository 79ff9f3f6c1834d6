import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTenant } from '../../../src/modules/tenants/tenant.js';
import { demoDatabase, freshDatabase, type TestDatabase } from '../../support/service/database.js';
import { startOwnServer } from '../../support/service/postgres.js';
import { endProcesses, run, startReplica } from '../../support/service/processes.js';

const LIMIT_MS = 60_000;
const LOGIN = `development_${randomBytes(4).toString('hex')}`;
const PASSWORD = 'a long enough secret of nobody';

let real: TestDatabase;
let demo: TestDatabase;
let owner: pg.Client;
let demoOwner: pg.Client;

beforeAll(async () => {
  [real, demo] = await Promise.all([freshDatabase(), demoDatabase()]);
  [owner, demoOwner] = [real, demo].map(({ ownerUrl }) => new pg.Client({ connectionString: ownerUrl })) as [
    // One client per database.
    pg.Client,
    pg.Client,
  ];
  await Promise.all([owner.connect(), demoOwner.connect()]);
  await owner.query(`create role ${LOGIN} login password 'secret' in role crossdock_app`);
  await addTenant(owner);
}, LIMIT_MS);

afterEach(endProcesses, LIMIT_MS);

afterAll(async () => {
  await owner.query(`drop role ${LOGIN}`);
  await Promise.all([owner.end(), demoOwner.end()]);
  await Promise.all([real.drop(), demo.drop()]);
}, LIMIT_MS);

const addTenant = (client: pg.Client) =>
  createTenant(
    client,
    {
      slug: 'miami',
      name: 'Miami',
      hosts: ['gateway.example.com'],
      warehouse: 'Miami',
      admin: { username: 'admin', fullName: 'Ada', password: PASSWORD },
    },
    { passwordHashCost: 4 },
  );

const asLogin = (url: string) => Object.assign(new URL(url), { username: LOGIN, password: 'secret' }).href;

const record = (client: pg.Client, appEnv: string) =>
  client.query(
    `insert into installation.deployments (name, app_env, fingerprints, version) values ($1, $1, '{}', '1.1.0')`,
    [appEnv],
  );

async function expectRefusal(program: string, env: Record<string, string>, line: RegExp): Promise<void> {
  const refused = run(program, env);
  expect([await refused.ended, refused.output()]).toEqual([
    { code: 1, signal: null },
    expect.stringMatching(line),
  ]);
}

const PROGRAMS = ['src/main.js', 'src/worker.js', 'fixtures/clone.js', 'scripts/develop/demo-load.js'];

test.each(PROGRAMS.flatMap((program) => ['staging', 'production'].map((appEnv) => ({ program, appEnv }))))(
  '$program in development refuses a database that a deployment of $appEnv has used, as the owner and as the login',
  async ({ program, appEnv }) => {
    await record(demoOwner, appEnv);
    const line = new RegExp(
      `^The deployment ${appEnv} \\(APP_ENV=${appEnv}\\) has used this database, [^\n]+ Set APP_ENV=${appEnv}, [^\n]+\n$`,
    );
    await expectRefusal(program, { DATABASE_URL: demo.ownerUrl }, line);
    if (program !== 'scripts/develop/demo-load.js')
      await expectRefusal(program, { DATABASE_URL: asLogin(demo.ownerUrl) }, line);
    const { rows } = await demoOwner.query('delete from installation.deployments returning app_env');
    expect(rows).toEqual([{ app_env: appEnv }]);
  },
  LIMIT_MS,
);

const OTHERS = /^The database contains tenants that are not those of the demo data \(1\), [^\n]+\n$/;

test.each(PROGRAMS)(
  '%s in development refuses a database with other tenants that no process has used yet',
  async (program) => {
    await expectRefusal(program, { DATABASE_URL: real.ownerUrl }, OTHERS);
    if (program !== 'scripts/develop/demo-load.js')
      await expectRefusal(program, { DATABASE_URL: asLogin(real.ownerUrl) }, OTHERS);
    expect((await owner.query('select slug from tenants')).rows).toEqual([{ slug: 'miami' }]);
    expect((await owner.query('select name from installation.deployments')).rows).toEqual([]);
  },
  LIMIT_MS,
);

test.each(['fixtures/clone.js', 'src/main.js'])(
  "%s in development puts nothing into the server's own database postgres",
  async (program) => {
    const server = await startOwnServer();
    try {
      const url = server.urlOf('postgres');
      await expectRefusal(
        program,
        { DATABASE_URL: url },
        /^The database postgres belongs to the server's own maintenance, [^\n]+ createdb crossdock, [^\n]+\n$/,
      );
      expect(await server.query("select to_regclass('public.tenants')::text as tenants")).toEqual([
        { tenants: null },
      ]);
    } finally {
      await server.stop();
    }
  },
  LIMIT_MS,
);

test(
  'the statement of the refusal lets a copy without real data be used, and no demo data are loaded beside its tenants',
  async () => {
    const refused = run('fixtures/clone.js', { DATABASE_URL: real.ownerUrl });
    await refused.ended;
    await owner.query(/insert into installation.*/.exec(refused.output())?.[0] ?? '');
    const replica = await startReplica({ DATABASE_URL: real.ownerUrl });
    expect(replica.output()).toContain(
      'The demo data were not loaded, because the database contains other tenants, for example miami.\n',
    );
    await replica.stop();
    expect((await owner.query('select slug from tenants')).rows).toEqual([{ slug: 'miami' }]);
    await owner.query('delete from installation.deployments');
  },
  LIMIT_MS,
);

test(
  'a database of a developer, with the demo data and own tenants beside them, starts again and again, and tells if a key has changed',
  async () => {
    await addTenant(demoOwner);
    const LOOKUP_KEY = randomBytes(32).toString('hex');
    const told: boolean[] = [];
    const settings: Record<string, string>[] = [{}, {}, { LOOKUP_KEY }, { LOOKUP_KEY }];
    for (const keys of settings) {
      const replica = await startReplica({ DATABASE_URL: demo.ownerUrl, ...keys });
      await replica.stop();
      told.push(
        replica.output().includes('The last start on this database had other keys (LOOKUP_KEY). What they'),
      );
    }
    expect(told).toEqual([false, false, true, false]);
  },
  LIMIT_MS,
);
