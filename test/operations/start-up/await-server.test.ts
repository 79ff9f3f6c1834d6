import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { PGBOUNCER, startPooler } from '../../support/harness/pgbouncer.js';
import { startOwnServer, type OwnServer } from '../../support/service/postgres.js';
import { endProcesses, removeFolders, run, until } from '../../support/service/processes.js';

// crossdock migrate --await-server: compose starts it together with PostgreSQL, and podman-compose 1.0 waits for nothing.

const LIMIT_MS = 60_000;
let server: OwnServer;

beforeAll(async () => {
  server = await startOwnServer();
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await server.stop();
  await removeFolders();
}, LIMIT_MS);

const migrate = (url: string, args: string[]) =>
  run('src/commands/migrate.js', { DATABASE_OWNER_URL: url }, args);

test(
  'migrates when the server is there, and fails at once without the option',
  async () => {
    await server.shutDown();
    const url = server.urlOf('postgres');
    const hasty = migrate(url, []);
    expect(await hasty.ended).toMatchObject({ code: 1 });
    expect(hasty.output()).toContain('ECONNREFUSED');
    const waiting = migrate(url, ['--await-server', '60']);
    // It has tried at least once, because a process that cannot connect ends.
    await until(async () => waiting.child.pid !== undefined);
    await server.restart();
    const ended = await waiting.ended;
    expect([ended, waiting.output()]).toEqual([{ code: 0, signal: null }, expect.stringMatching(/^Applied/)]);
    expect(waiting.output()).toMatch(/^Applied \d{14}_/m);
  },
  LIMIT_MS,
);

test(
  'does not wait for what will not change, and only as long as it is told',
  async () => {
    const wrong = migrate(server.urlOf('postgres', { user: 'nobody', password: 'wrong' }), [
      '--await-server',
      '600',
    ]);
    expect(await wrong.ended).toMatchObject({ code: 1 });
    const away = Object.assign(new URL(server.urlOf('postgres')), { port: '1' }).href;
    const late = migrate(away, ['--await-server', '1']);
    expect(await late.ended).toMatchObject({ code: 1 });
    expect(late.output()).toContain('ECONNREFUSED');
    const odd = migrate(away, ['--await-server', 'soon']);
    expect(await odd.ended).toMatchObject({ code: 1 });
    expect(odd.output()).toContain('--await-server needs a number of seconds');
  },
  LIMIT_MS,
);

test(
  'a server that starts during an outage waits for the database, and serves when it is back',
  async () => {
    await server.query('create database outage');
    await migrate(server.urlOf('outage'), []).ended;
    await server.query("create role outage_login login password 'a password' in role crossdock_app");
    await server.shutDown();
    const worker = run('src/worker.js', {
      APP_ENV: 'development',
      DATABASE_URL: server.urlOf('outage', { user: 'outage_login', password: 'a password' }),
      DATABASE_OWNER_URL: server.urlOf('outage'),
    });
    await until(async () => worker.output().includes('Trying again for 20 seconds.'));
    expect(worker.output()).toMatch(
      /^(DATABASE_(OWNER_)?URL: Cannot connect [^\n]*ECONNREFUSED[^\n]* Trying again for 20 seconds\.\n)+$/,
    );
    await server.restart();
    await until(async () => worker.output().includes('is running.') || worker.child.exitCode !== null);
    expect(worker.output()).toContain('The Crossdock worker is running.');

    // A failover: the address leads to a server that accepts no writes for a moment.
    await server.query('alter database outage set default_transaction_read_only = on');
    const other = run('src/worker.js', {
      APP_ENV: 'development',
      MIGRATE_AT_START: 'false',
      DATABASE_URL: server.urlOf('outage', { user: 'outage_login', password: 'a password' }),
      DATABASE_OWNER_URL: server.urlOf('outage'),
    });
    await until(async () => other.output().includes('Trying again') || other.child.exitCode !== null);
    expect(other.output()).toMatch(
      /^DATABASE_URL: The database accepts no writes[^\n]* Trying again for 20 seconds\.\n$/,
    );
    await server.query('alter database outage reset default_transaction_read_only');
    await until(async () => other.output().includes('is running.') || other.child.exitCode !== null);
    expect(other.output()).toContain('The Crossdock worker is running.');
  },
  LIMIT_MS,
);

test('systemd starts a process again for as long as an outage lasts', () => {
  const folder = join(projectRoot, 'deploy', 'systemd');
  for (const name of ['crossdock-api@.service', 'crossdock-worker.service']) {
    const unit = readFileSync(join(folder, name), 'utf8');
    const valueOf = (setting: string) => Number(new RegExp(`^${setting}=(\\d+)$`, 'm').exec(unit)?.[1]);
    // Each start waits for the database for 20 seconds.
    const fiveStarts = valueOf('StartLimitBurst') * (20 + valueOf('RestartSec'));
    expect([name, fiveStarts > valueOf('StartLimitIntervalSec')]).toEqual([name, true]);
  }
});

describe('a worker whose login is refused', () => {
  const LOGIN = { user: 'late_login', password: 'the new password' };

  const start = (url: string, more: Record<string, string> = {}) =>
    run('src/worker.js', {
      APP_ENV: 'development',
      DATABASE_URL: url,
      DATABASE_OWNER_URL: server.urlOf('late'),
      ...more,
    });

  /** A login whose password is not the one of the settings yet. */
  async function createLogin(): Promise<void> {
    await server.query(`drop role if exists ${LOGIN.user}`);
    await server.query(`create role ${LOGIN.user} login password 'the old password' in role crossdock_app`);
  }

  const setPassword = () => server.query(`alter role ${LOGIN.user} password '${LOGIN.password}'`);

  beforeAll(async () => {
    await server.query('create database late');
    await migrate(server.urlOf('late'), []).ended;
  }, LIMIT_MS);

  test(
    'by PostgreSQL says that it tries again, and starts when the password is the right one',
    async () => {
      await createLogin();
      const worker = start(server.urlOf('late', LOGIN));
      await until(async () => worker.output().includes('Trying again for 20 seconds.'));
      expect(worker.output()).toMatch(
        /^DATABASE_URL: Cannot connect to the database: password authentication failed [^\n]+\. Trying again for 20 seconds\.\n$/,
      );
      await setPassword();
      await until(async () => worker.output().includes('The Crossdock worker is running.'));
    },
    LIMIT_MS,
  );

  (PGBOUNCER ? test : test.skip)(
    `by pgbouncer, which refuses every login for 15 seconds, starts too${PGBOUNCER ? '' : ' (skipped: pgbouncer is not installed)'}`,
    async () => {
      await createLogin();
      const direct = server.urlOf('late', LOGIN);
      const pooler = await startPooler([direct]);
      try {
        const worker = start(pooler.through(direct), {
          DATABASE_POOLER: 'transaction',
          DATABASE_DIRECT_URL: server.urlOf('late'),
        });
        await until(async () => worker.output().includes('Trying again for 20 seconds.'));
        expect(worker.output()).toMatch(
          /^DATABASE_URL: [^\n]+\. The pooler may still have the old password: see "pgbouncer without a container" in docs\/deploy\.md\. Trying again for/m,
        );
        await setPassword();
        // Up to 15 seconds of pgbouncer, and the start.
        await until(
          async () => worker.output().includes('is running.') || worker.child.exitCode !== null,
          60_000,
        );
        expect(worker.output()).toContain('The Crossdock worker is running.');
      } finally {
        await endProcesses();
        await pooler.stop();
      }
    },
    LIMIT_MS,
  );

  test(
    'for longer than that ends with one more line',
    async () => {
      await createLogin();
      const worker = start(server.urlOf('late', LOGIN));
      expect(await worker.ended).toMatchObject({ code: 1 });
      expect(worker.output()).toMatch(
        /^DATABASE_URL: [^\n]+Trying again for 20 seconds\.\nDATABASE_URL: [^\n]+password authentication failed[^\n]+\n$/,
      );
    },
    LIMIT_MS,
  );
});
