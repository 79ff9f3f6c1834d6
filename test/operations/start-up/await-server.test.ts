import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
    expect(await waiting.ended).toEqual({ code: 0, signal: null });
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
