import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startOwnServer, type OwnServer } from '../../support/service/postgres.js';
import { removeFolders, until } from '../../support/service/processes.js';
import { textsOf, type Env } from './installation.js';

const LIMIT_MS = 60_000;

let server: OwnServer;

beforeAll(async () => {
  server = await startOwnServer(undefined, { fsync: 'on', full_page_writes: 'on' });
}, LIMIT_MS);

afterAll(async () => {
  await server.stop();
  await removeFolders();
});

const findings = (check: string, env: Env = {}): Promise<string[]> =>
  textsOf(check, { APP_ENV: 'development', DATABASE_URL: server.urlOf('postgres'), ...env });

async function change(...settings: string[]): Promise<void> {
  for (const setting of settings) await server.query(`alter system ${setting}`);
  await server.query('select pg_reload_conf()');
}

test('reports nothing about a server that keeps what is committed', async () => {
  expect(await findings('durability')).toEqual([
    'ok: What is committed survives a crash of the server. The server archives no WAL, so a restore ends with the last backup. ',
  ]);
});

test('warns of a server without an archive in production', async () => {
  expect(await findings('durability', { APP_ENV: 'production' })).toEqual([
    expect.stringMatching(/^warning: The server archives no WAL, .* step 1 of docs\/restore\.md/),
  ]);
  expect(await findings('durability', { APP_ENV: 'staging' })).toEqual([expect.stringMatching(/^ok: /)]);
});

test(
  'warns of a server without fsync, full_page_writes or synchronous_commit, each with its remedy',
  async () => {
    // The server was started with two of them on its command line, which takes precedence, so it is started again without.
    await server.stop();
    server = await startOwnServer();
    await change('set synchronous_commit = off');
    expect(await findings('durability')).toEqual([
      expect.stringMatching(/^warning: fsync is off, .* Run alter system set fsync = on/),
      expect.stringMatching(
        /^warning: full_page_writes is off, .* Run alter system set full_page_writes = on/,
      ),
      expect.stringMatching(/^warning: synchronous_commit is off, .*reset synchronous_commit/),
    ]);
  },
  LIMIT_MS,
);

test('warns of local commits only if there is a synchronous standby', async () => {
  await change('set synchronous_commit = local');
  expect(await findings('durability')).toHaveLength(2);
  await change("set synchronous_standby_names = 'standby'");
  expect(await findings('durability')).toContainEqual(
    expect.stringMatching(
      /^warning: synchronous_commit is local although synchronous_standby_names is set, .*reset/,
    ),
  );
});

test(
  'warns of an archive that is configured and off, is missing, or fails, and of none that works again',
  async () => {
    const archive = async () => (await findings('durability')).filter((line) => line.includes('rchive'));
    const restartWith = async (settings: Record<string, string>) => {
      await server.stop();
      server = await startOwnServer(undefined, { fsync: 'on', full_page_writes: 'on', ...settings });
    };
    await change('reset synchronous_commit');
    await change('reset synchronous_standby_names');
    expect(await archive()).toEqual([]);
    await change("set archive_command = 'true'");
    expect(await archive()).toEqual([
      expect.stringMatching(
        /^warning: archive_mode is off although .* Run alter system set archive_mode = on/,
      ),
    ]);
    await restartWith({ archive_mode: 'on' });
    expect(await archive()).toEqual([
      expect.stringMatching(/^warning: archive_mode is on, and neither archive_command /),
    ]);
    await change("set archive_command = 'false'");
    await server.query('select pg_switch_wal()');
    await until(async () => (await archive()).some((line) => line.includes('fails')));
    expect(await archive()).toEqual([
      expect.stringMatching(/^warning: The archive of WAL fails: [0-9A-F]{24} could not be archived at /),
    ]);
    await change("set archive_command = 'true'");
    await until(async () => (await archive()).some((line) => ARCHIVED.test(line)), LIMIT_MS);
  },
  LIMIT_MS,
);

const ARCHIVED = /^ok: What is committed survives .* The last file of WAL was archived at 20/;

test(
  'does not know whether the archive works when archive_mode was off and is on again, until a file is archived',
  async () => {
    const restartWith = async (mode: string) => {
      await change(`set archive_mode = ${mode}`);
      await server.shutDown();
      await server.restart();
    };
    const archiveAFile = async () => {
      await server.query('select pg_switch_wal()');
      await until(async () => ARCHIVED.test((await findings('durability')).join()), LIMIT_MS);
    };
    await server.stop();
    server = await startOwnServer(undefined, { fsync: 'on', full_page_writes: 'on' });
    await change("set archive_command = 'true'");
    await restartWith('on');
    await archiveAFile();
    await restartWith('off');
    expect(await findings('durability')).toEqual([
      expect.stringMatching(/^warning: archive_mode is off although/),
    ]);
    // The statistics of the archive survive both starts, and the WAL in between is nowhere.
    await restartWith('on');
    expect(await findings('durability')).toEqual([
      expect.stringMatching(
        /^warning: No WAL was archived since PostgreSQL started at 20.*not known yet.* If archive_mode was off before, take a base backup/,
      ),
    ]);
    await archiveAFile();
  },
  LIMIT_MS,
);

test.each(['0.0.0.0/0', '::/0', '0.0.0.0/1,128.0.0.0/1', '0.0.0.0/4'])(
  'warns of TRUST_PROXY=%s, which trusts clients',
  async (range) => {
    expect(await findings('settings', { TRUST_PROXY: range })).toContainEqual(
      expect.stringMatching(/^warning: TRUST_PROXY contains .* Name only the addresses of your proxies/),
    );
  },
);

test.each(['0.0.0.0', '::'])('warns of METRICS_HOST=%s, which listens on all addresses', async (host) => {
  expect(await findings('settings', { METRICS_HOST: host, METRICS_PORT: '9464' })).toEqual([
    expect.stringMatching(/^warning: METRICS_HOST is .* Set METRICS_HOST to 127\.0\.0\.1/),
  ]);
  expect(await findings('settings', { METRICS_HOST: host })).toEqual([expect.stringMatching(/^ok/)]);
});

test('accepts the networks of the compose file, and one address', async () => {
  const TRUST_PROXY = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7,192.0.2.1';
  const metrics = { METRICS_HOST: '127.0.0.1', METRICS_PORT: '9464' };
  expect(await findings('settings', { TRUST_PROXY, ...metrics })).toEqual([expect.stringMatching(/^ok/)]);
});
