import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEVELOPMENT_KEYS, readConfig } from '../../../src/config/config.js';
import { describeDeployment, fingerprint, recordDeployment } from '../../../src/startup/deployment.js';
import { appendAllToChains } from '../../../src/modules/audit-log/append-to-chain.js';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import { openDb } from '../../../src/platform/db/open-database.js';
import { insertEntry } from '../../support/builders/audit.js';
import { documentedDatabase } from '../../support/staging/documented-database.js';
import { endProcesses, makeFolder, removeFolders, run, until } from '../../support/service/processes.js';
import {
  deployProduction,
  DEPLOYMENT,
  newKeys,
  readState,
  writeSecrets,
  type Deployed,
} from '../../support/staging/deployment-fixture.js';

// What a database remembers of its deployment, and how an operator changes it: real processes on a database of production.

const LIMIT_MS = 120_000;
const hex = () => randomBytes(32).toString('hex');

let production: Deployed;

beforeEach(async () => {
  production = await deployProduction();
}, LIMIT_MS);

afterEach(async () => {
  await endProcesses();
  await production.drop();
}, LIMIT_MS);

afterAll(removeFolders);

/** Runs a command with a folder of secrets and APP_ENV, and nothing else. */
async function command(name: string, args: string[], given: Record<string, string> = {}) {
  const { APP_ENV = 'production', DEPLOYMENT: deployment, ...secrets } = given;
  const folder = await writeSecrets({ ...production.urls, ...production.keys, ...secrets });
  const settings = { APP_ENV, SECRETS_DIR: folder, ...(deployment ? { DEPLOYMENT: deployment } : {}) };
  const program = run(`src/commands/${name}.js`, settings, args);
  const { code } = await program.ended;
  return { code, output: program.output() };
}

/** Starts a worker. Returns what it prints if it is refused, and undefined when it has recorded its use. */
async function refusalOfWorker(given: Record<string, string> = {}): Promise<string | undefined> {
  const seen = async () => {
    const { rows } = await production.owner.query<{ at: string }>(
      'select max(seen_at)::text as at from installation.deployments',
    );
    return rows[0]?.at;
  };
  const before = await seen();
  const worker = run('src/worker.js', {
    APP_ENV: 'production',
    TRUST_PROXY: '127.0.0.1',
    LOG_LEVEL: 'error',
    DATABASE_URL: production.urls.DATABASE_URL,
    ...production.keys,
    ...given,
  });
  await until(async () => worker.child.exitCode !== null || (await seen()) !== before);
  const isRefused = worker.child.exitCode !== null;
  worker.child.kill('SIGTERM');
  await worker.ended;
  return isRefused ? worker.output() : undefined;
}

const databaseName = () => new URL(production.database.ownerUrl).pathname.slice(1);

async function fileWith(text: string): Promise<string> {
  const path = join(await makeFolder(), 'key');
  writeFileSync(path, `${text}\n`);
  return path;
}

describe('a new LOOKUP_KEY', () => {
  test(
    'starts nothing before rehash has recorded it, and then the old one starts nothing',
    async () => {
      const LOOKUP_KEY = hex();
      const refused = await refusalOfWorker({ LOOKUP_KEY });
      expect(refused).toMatch(
        /^The deployment [^\n]+ with another LOOKUP_KEY, [^\n]+rehash[^\n]+step 6 of docs\/restore\.md[^\n]+\n$/,
      );
      const old = await fileWith(production.keys.LOOKUP_KEY);
      const done = await command('rehash', ['--drop-backup-codes', '--replaced-key', old], { LOOKUP_KEY });
      expect([done.code, done.output]).toEqual([0, expect.stringContaining('Deleted backup codes: 1.')]);
      expect(await refusalOfWorker({ LOOKUP_KEY })).toBeUndefined();
      expect(await refusalOfWorker()).toMatch(/with another LOOKUP_KEY/);
    },
    LIMIT_MS,
  );

  test(
    'is not accepted with another old key than the one that was used; --replaced-key-lost accepts it',
    async () => {
      const LOOKUP_KEY = hex();
      const before = await readState(production.owner);
      const wrong = ['--drop-backup-codes', '--replaced-key', await fileWith(hex())];
      const refused = await command('rehash', wrong, { LOOKUP_KEY });
      expect(refused).toEqual({
        code: 1,
        output: expect.stringMatching(/^The deployment [^\n]+ nothing was changed\. [^\n]+\n$/),
      });
      expect(await readState(production.owner)).toBe(before);
      expect((await command('rehash', ['--replaced-key-lost'], { LOOKUP_KEY })).code).toBe(0);
      expect(await refusalOfWorker({ LOOKUP_KEY })).toBeUndefined();
    },
    LIMIT_MS,
  );
});

test(
  'rehash changes nothing if one API key cannot be decrypted, and keeps the backup codes',
  async () => {
    await production.owner.query("update couriers set api_key_cipher = 'v1.AAAA' where code = 'HRB'");
    const LOOKUP_KEY = hex();
    const args = ['--drop-backup-codes', '--replaced-key', await fileWith(production.keys.LOOKUP_KEY)];
    const before = await readState(production.owner);
    const refused = await command('rehash', args, { LOOKUP_KEY });
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringMatching(/^couriers \S+: the API key cannot be decrypted\.[^]*Nothing was changed\.\n$/),
    ]);
    expect(await readState(production.owner)).toBe(before);
    expect((await command('rehash', [...args, '--skip-undecryptable'], { LOOKUP_KEY })).code).toBe(0);
  },
  LIMIT_MS,
);

describe('a version of ENCRYPTION_KEYS that rows still use', () => {
  const UNREADABLE =
    /^Stored secrets are encrypted with version 1 of ENCRYPTION_KEYS, and the setting has (no key|another key) of this version\. [^\n]+\n$/;

  test.each<[string, (newest: string) => string]>([
    ['is missing', (newest) => `2:${newest}`],
    ['has another key', (newest) => `2:${newest},1:${hex()}`],
  ])(
    'that %s stops the start with one line, and doctor reports it',
    async (_what, keysOf) => {
      const newest = hex();
      const both = { ENCRYPTION_KEYS: `2:${newest},${production.keys.ENCRYPTION_KEYS}` };
      expect(await refusalOfWorker(both)).toBeUndefined();
      const without = { ENCRYPTION_KEYS: keysOf(newest) };
      expect(await refusalOfWorker(without)).toMatch(UNREADABLE);
      const doctor = await command('doctor', [], without);
      expect(doctor.output).toMatch(
        /^problem +encryption +.*(No encryption key of version 1|the key of its version)/m,
      );
      expect((await command('rewrap', [], both)).code).toBe(0);
      expect(await refusalOfWorker({ ENCRYPTION_KEYS: `2:${newest}` })).toBeUndefined();
    },
    LIMIT_MS,
  );
});

test(
  'rewrap changes nothing before a process has started with the newest key',
  async () => {
    const before = await readState(production.owner);
    const refused = await command('rewrap', [], {
      ENCRYPTION_KEYS: `2:${hex()},${production.keys.ENCRYPTION_KEYS}`,
    });
    expect(refused).toEqual({
      code: 1,
      output: expect.stringMatching(
        /^No server and no worker has started with version 2 [^\n]+Nothing was changed\. Restart [^\n]+\n$/,
      ),
    });
    expect(await readState(production.owner)).toBe(before);
  },
  LIMIT_MS,
);

test(
  'rewrap changes nothing while one process still runs without the newest key, and names it',
  async () => {
    const start = (ENCRYPTION_KEYS: string) =>
      run('src/worker.js', {
        APP_ENV: 'production',
        TRUST_PROXY: '127.0.0.1',
        LOG_LEVEL: 'error',
        DATABASE_URL: production.urls.DATABASE_URL,
        ...production.keys,
        ENCRYPTION_KEYS,
      });
    const countProcesses = async (): Promise<number> => {
      const { rows } = await production.owner.query<{ count: number }>(
        'select count(*)::int as count from installation.processes',
      );
      return rows[0]?.count ?? 0;
    };
    const before = start(production.keys.ENCRYPTION_KEYS);
    await until(async () => (await countProcesses()) === 1);
    const both = `2:${hex()},${production.keys.ENCRYPTION_KEYS}`;
    start(both);
    await until(async () => (await countProcesses()) === 2);
    const state = await readState(production.owner);
    const refused = await command('rewrap', [], { ENCRYPTION_KEYS: both });
    expect(refused).toEqual({
      code: 1,
      output: expect.stringMatching(
        new RegExp(
          `^These processes run without version 2 of ENCRYPTION_KEYS, [^\\n]+: worker \\S+ pid ${before.child.pid} since [^\\n,]+\\. Nothing was changed\\. Restart [^\\n]+\\n$`,
        ),
      ),
    });
    expect(await readState(production.owner)).toBe(state);
    before.child.kill('SIGTERM');
    await before.ended;
    expect((await command('rewrap', [], { ENCRYPTION_KEYS: both })).code).toBe(0);
    // A process that was killed leaves its row, which counts for 45 seconds.
    await production.owner.query(
      "update installation.processes set seen_at = now() - interval '46 s', encryption_keys = '{}'",
    );
    expect((await command('rewrap', [], { ENCRYPTION_KEYS: both })).code).toBe(0);
  },
  LIMIT_MS,
);

test(
  'a wrong LOOKUP_KEY starts nothing although the database does not remember the deployment',
  async () => {
    await production.owner.query('delete from installation.deployments');
    expect(await refusalOfWorker({ LOOKUP_KEY: hex() })).toMatch(
      /^The API keys of couriers or the audit chains were stored with another LOOKUP_KEY, [^\n]+\n$/,
    );
    expect(await refusalOfWorker()).toBeUndefined();
  },
  LIMIT_MS,
);

test(
  'a wrong LOOKUP_KEY starts nothing although nothing but the audit chain was made with it',
  async () => {
    await production.owner.query(
      'delete from installation.deployments; update couriers set api_key_hash = null, api_key_cipher = null',
    );
    const { rows } = await production.owner.query<{ id: string }>('select id from tenants');
    await insertEntry(production.owner, { tenantId: rows[0]?.id ?? '', actorKind: 'system', actorId: null });
    expect(await refusalOfWorker()).toBeUndefined();
    const db = openDb({
      url: production.database.ownerUrl,
      size: 1,
      assumeRole: 'crossdock_app',
      onError: () => undefined,
    });
    const lookupKey = Buffer.from(production.keys.LOOKUP_KEY, 'hex');
    const secrets = openSecrets({ ...DEVELOPMENT_KEYS, lookupKey });
    await appendAllToChains({ db, secrets, stopping: new AbortController().signal });
    await db.close();
    await production.owner.query('delete from installation.deployments');
    expect(await refusalOfWorker({ LOOKUP_KEY: hex() })).toMatch(/stored with another LOOKUP_KEY/);
    expect(await refusalOfWorker()).toBeUndefined();
  },
  LIMIT_MS,
);

describe('TOKEN_KEYS', () => {
  const SERVING = { DEPLOYMENT, TRUST_PROXY: '127.0.0.1' };

  test(
    'of another deployment, which have the same names, stop the start, and doctor names them',
    async () => {
      expect(await refusalOfWorker(SERVING)).toBeUndefined();
      const { TOKEN_KEYS } = newKeys();
      const refused = await refusalOfWorker({ ...SERVING, TOKEN_KEYS });
      expect(refused).toMatch(
        /^The deployment crossdock-production [^\n]+ another key of the name k1 in TOKEN_KEYS, so the start is refused\. [^\n]+\n$/,
      );
      expect((await command('doctor', [], { ...SERVING, TOKEN_KEYS })).output).toMatch(
        /^problem +deployment +.*another key of the name k1/m,
      );
    },
    LIMIT_MS,
  );

  test(
    'with a new name replace all others after a leak, doctor says so before the restart, and the old name stays taken',
    async () => {
      const TOKEN_KEYS = `k1764201600:${hex()}`;
      expect((await command('doctor', [], { ...SERVING, TOKEN_KEYS })).output).toMatch(
        /^warning +deployment +No key of TOKEN_KEYS was given at the last start/m,
      );
      expect(await refusalOfWorker({ ...SERVING, TOKEN_KEYS })).toBeUndefined();
      expect((await command('doctor', [], { ...SERVING, TOKEN_KEYS })).output).toMatch(/^ok +deployment /m);
      expect(await refusalOfWorker({ ...SERVING, TOKEN_KEYS: newKeys().TOKEN_KEYS })).toMatch(
        /the name k1 in TOKEN_KEYS/,
      );
    },
    LIMIT_MS,
  );
});

test(
  'keys of another deployment are all named, and take-over does not record them while something is encrypted',
  async () => {
    const other = newKeys();
    expect(await refusalOfWorker({ ...other, TOKEN_KEYS: production.keys.TOKEN_KEYS })).toMatch(
      /^The deployment [^\n]+ with other ENCRYPTION_KEYS and another LOOKUP_KEY, so the start is refused, [^\n]+ restored [^\n]+ they are right\. Follow step 6 of docs\/restore\.md, and leave the present LOOKUP_KEY [^\n]+\n$/,
    );
    expect(await refusalOfWorker(other)).toMatch(
      /with other ENCRYPTION_KEYS, another LOOKUP_KEY and other TOKEN_KEYS, so the start is refused/,
    );
    expect((await command('doctor', [], { ...other, TRUST_PROXY: '127.0.0.1' })).output).toMatch(
      /^problem +deployment +.*other ENCRYPTION_KEYS, another LOOKUP_KEY and other TOKEN_KEYS/m,
    );
    await production.owner.end();
    const args = ['--from', DEPLOYMENT, '--database', databaseName()];
    const given = { DEPLOYMENT, ENCRYPTION_KEYS: other.ENCRYPTION_KEYS };
    const refused = await command('take-over', args, given);
    production.owner = new pg.Client({ connectionString: production.database.ownerUrl });
    await production.owner.connect();
    expect(refused).toEqual({
      code: 1,
      output: expect.stringMatching(
        /^The database contains encrypted fields \(couriers\.api_key_cipher\), .*Nothing was changed\./,
      ),
    });
  },
  LIMIT_MS,
);

/** Returns the arguments of the command that doctor suggests, or undefined. */
async function suggestedByDoctor(given: Record<string, string>): Promise<string[] | undefined> {
  const { output } = await command('doctor', [], { ...given, TRUST_PROXY: '127.0.0.1' });
  expect(output).toMatch(/^problem +deployment +This database was used by the deployment /m);
  expect(output).not.toContain('delete from installation');
  const [, from = '', database = ''] = /take-over (?:-- )?--from (\S+) --database (\S+)/.exec(output) ?? [];
  return from ? ['--from', from, '--database', database] : undefined;
}

describe('doctor, for the database of another deployment,', () => {
  const staging = { APP_ENV: 'staging', DEPLOYMENT: 'crossdock-staging' };

  test(
    'suggests a take-over that works',
    async () => {
      const args = (await suggestedByDoctor(staging)) ?? [];
      expect(args).toEqual(['--from', DEPLOYMENT, '--database', databaseName()]);
      // What uses the database is stopped, as the suggestion says.
      await production.owner.end();
      const { code, output } = await command('take-over', args, staging);
      production.owner = new pg.Client({ connectionString: production.database.ownerUrl });
      await production.owner.connect();
      expect([code, output]).toEqual([0, expect.stringContaining('crossdock-staging')]);
    },
    LIMIT_MS,
  );

  test(
    'suggests the take-over from development only if development had no public keys',
    async () => {
      const own = { DEPLOYMENT };
      const insert = `insert into installation.deployments (name, app_env, fingerprints, version) values ('development', 'development', $1, '-')`;
      const prints = { LOOKUP_KEY: [fingerprint(DEVELOPMENT_KEYS.lookupKey)] };
      await production.owner.query(insert, [JSON.stringify(prints)]);
      expect(await suggestedByDoctor(own)).toBeUndefined();
      await production.owner.query("delete from installation.deployments where name = 'development'");
      await production.owner.query(insert, ['{}']);
      const args = (await suggestedByDoctor(own)) ?? [];
      expect(args).toEqual(['--from', 'development', '--database', databaseName()]);
      expect((await command('take-over', args, own)).code).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    'suggests none to development, which take-over refuses',
    async () => {
      expect(await suggestedByDoctor({ APP_ENV: 'development', DEPLOYMENT: 'x' })).toBeUndefined();
    },
    LIMIT_MS,
  );
});

test(
  'take-over keeps the record of public keys',
  async () => {
    await production.owner.query(
      "update installation.deployments set app_env = 'development', fingerprints = jsonb_build_object('LOOKUP_KEY', jsonb_build_array($1::text))",
      [fingerprint(DEVELOPMENT_KEYS.lookupKey)],
    );
    expect(await refusalOfWorker()).toMatch(/so production needs a new database\./);
    const before = await readState(production.owner);
    const args = ['--from', DEPLOYMENT, '--database', databaseName()];
    const refused = await command('take-over', args, { DEPLOYMENT });
    expect(refused).toEqual({
      code: 1,
      output: expect.stringMatching(/public development values.*Use a new database/),
    });
    expect(await readState(production.owner)).toBe(before);
  },
  LIMIT_MS,
);

describe('crossdock take-over', () => {
  test(
    'gives a database to a deployment with a new name, whose commands without keys were refused',
    async () => {
      const renamed = { DEPLOYMENT: 'miami', LOOKUP_KEY: '', ENCRYPTION_KEYS: '' };
      const refused = await command('migrate', [], renamed);
      expect(refused.output).toMatch(
        /^The deployment crossdock-production [^\n]+ DEPLOYMENT=miami is refused, [^\n]+take-over (-- )?--from crossdock-production --database \S+\.\n$/,
      );
      const args = ['--from', DEPLOYMENT, '--database', databaseName()];
      expect((await command('take-over', args, renamed)).code).toBe(0);
      expect((await command('migrate', [], renamed)).code).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    'lets a copy be used in staging with the keys of production, and with no others',
    async () => {
      const staging = { APP_ENV: 'staging', DEPLOYMENT: 'crossdock-staging' };
      const args = ['--from', DEPLOYMENT, '--database', databaseName()];
      const connected = await command('take-over', args, staging);
      expect(connected.output).toMatch(/^\d+ other connections use this database\./);
      const rest = production.owner;
      await rest.end();
      expect((await command('take-over', args, staging)).code).toBe(0);
      production.owner = new pg.Client({ connectionString: production.database.ownerUrl });
      await production.owner.connect();
      expect(await refusalOfWorker(staging)).toBeUndefined();
      expect(await refusalOfWorker({ ...staging, LOOKUP_KEY: newKeys().LOOKUP_KEY })).toMatch(
        /another LOOKUP_KEY/,
      );
      expect(await refusalOfWorker()).toMatch(/so APP_ENV=production is refused/);
    },
    LIMIT_MS,
  );

  test.each<[string, string[], Record<string, string>, RegExp]>([
    [
      'without DEPLOYMENT',
      ['--from', DEPLOYMENT, '--database', 'x'],
      {},
      /^Set DEPLOYMENT to the name of the deployment that takes the database over\./,
    ],
    ['without --database', ['--from', DEPLOYMENT], {}, /^State --from and --database\./],
    [
      'another database',
      ['--from', DEPLOYMENT, '--database', 'x'],
      { DEPLOYMENT: 'miami' },
      /^The URL leads to the database \S+, and --database names x\./,
    ],
    [
      'a deployment that has not used it',
      ['--from', 'x', '--database', 'x'],
      { DEPLOYMENT: 'miami' },
      /^No other deployment with the name x has used this database: crossdock-production \(APP_ENV=production\)\./,
    ],
    [
      'itself',
      ['--from', DEPLOYMENT, '--database', 'x'],
      { DEPLOYMENT },
      /^No other deployment with the name crossdock-production/,
    ],
  ])(
    'refuses %s',
    async (_what, args, given, line) => {
      const before = await readState(production.owner);
      const refused = await command('take-over', args, given);
      expect(refused).toEqual({ code: 1, output: expect.stringMatching(line) });
      expect(await readState(production.owner)).toBe(before);
    },
    LIMIT_MS,
  );

  test(
    'refuses development, whose keys are public',
    async () => {
      const args = ['--from', DEPLOYMENT, '--database', databaseName()];
      const refused = await command('take-over', args, { APP_ENV: 'development', DEPLOYMENT: 'x' });
      expect(refused).toEqual({ code: 1, output: expect.stringContaining('with public keys') });
    },
    LIMIT_MS,
  );
});

test(
  'a database belongs to the environment that migrated it, before anything was started',
  async () => {
    const database = await documentedDatabase();
    try {
      const { urls } = database;
      expect((await command('migrate', [], urls)).code).toBe(0);
      const tenant = ['--slug', 'new', '--name', 'New', '--host', 'new.example.com'];
      for (const APP_ENV of ['staging', 'development']) {
        const refused = await command('tenant-create', tenant, { ...urls, APP_ENV });
        expect([APP_ENV, refused.code, refused.output]).toEqual([
          APP_ENV,
          1,
          expect.stringMatching(
            /^The deployment production \(APP_ENV=production\) has used this database, [^\n]+\n$/,
          ),
        ]);
      }
      expect((await command('tenant-create', tenant, { ...urls, DEPLOYMENT: 'miami' })).code).toBe(0);
    } finally {
      await database.drop();
    }
  },
  LIMIT_MS,
);

test(
  'production keeps its database although an earlier release let staging use it too',
  async () => {
    const { TOKEN_KEYS, ENCRYPTION_KEYS, LOOKUP_KEY } = newKeys();
    const staging = { APP_ENV: 'staging', TRUST_PROXY: '127.0.0.1', TOKEN_KEYS, ENCRYPTION_KEYS, LOOKUP_KEY };
    const config = readConfig({ ...staging, DATABASE_URL: production.urls.DATABASE_URL });
    await recordDeployment(production.owner, describeDeployment(config));
    expect(await refusalOfWorker()).toBeUndefined();
    expect(await refusalOfWorker(staging)).toMatch(/so APP_ENV=staging is refused/);
    expect(
      (await command('take-over', ['--from', 'staging', '--database', databaseName()], { DEPLOYMENT })).code,
    ).toBe(0);
    const { rows } = await production.owner.query('select distinct app_env from installation.deployments');
    expect(rows).toEqual([{ app_env: 'production' }]);
  },
  LIMIT_MS,
);
