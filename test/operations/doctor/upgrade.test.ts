import { packageVersion } from '../../../src/config/project-root.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { readBackgroundMigrations } from '../../../src/platform/db/migrations/background-rows.js';
import { readHistory } from '../../../src/platform/db/migrations/history.js';
import { readMigrations } from '../../../src/platform/db/migrations/migration-files.js';
import { readReleases } from '../../../src/platform/db/migrations/releases.js';
import { judgeUpgrade, UPGRADE_CODES } from '../../../src/platform/db/migrations/upgrade.js';
import { plantMigrations, type Planted } from '../../support/migrations/planted.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { endProcesses, freePort, removeFolders, run } from '../../support/service/processes.js';

const LIMIT_MS = 60_000;
const BACKGROUND = '20990101000000_background';

let database: DocumentedDatabase;
let owner: pg.Client;

beforeAll(async () => {
  database = await documentedDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await owner.end();
  await database.drop();
  await removeFolders();
});

describe('the command', () => {
  const upgrade = async (env: Record<string, string>, ...args: string[]) => {
    const program = run('src/commands/doctor.js', env, ['--upgrade', ...args]);
    const { code } = await program.ended;
    return { code, output: program.output() };
  };

  test(
    'exits with 0 if processes of the running version survive the migrations, and says what to do',
    async () => {
      const result = await upgrade(database.urls);
      expect(result).toEqual({
        code: 0,
        output: expect.stringMatching(
          /^rolling:\nEvery migration is applied\.\nThere is nothing to apply\. If processes of another version run, replace them one after another\.\n$/,
        ),
      });
    },
    LIMIT_MS,
  );

  test(
    'exits with 5 for a migration that sorts before an applied one, as the migrations refuse it',
    async () => {
      const { rows } = await owner.query<{ migration_name: string }>(
        `select migration_name from _prisma_migrations order by migration_name desc offset 1 limit 1`,
      );
      const early = rows[0]?.migration_name ?? '';
      await owner.query('update _prisma_migrations set rolled_back_at = now() where migration_name = $1', [
        early,
      ]);
      const result = await upgrade(database.urls);
      await owner.query('update _prisma_migrations set rolled_back_at = null where migration_name = $1', [
        early,
      ]);
      expect(result).toEqual({
        code: 5,
        output: expect.stringMatching(
          new RegExp(
            `^unsupported:\n${early} is not applied and sorts before \\d+_\\w+, which is\\.\nSuch a migration is refused`,
          ),
        ),
      });
    },
    LIMIT_MS,
  );

  test(
    'exits with 5 for the database of a later version, and with 2 without a database',
    async () => {
      const later = `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('later', 'x', '29990101000000_later', now())`;
      await owner.query(later);
      const result = await upgrade(database.urls, '--json');
      await owner.query("delete from _prisma_migrations where id = 'later'");
      expect([result.code, JSON.parse(result.output)]).toEqual([
        5,
        {
          ...{ code: 5, verdict: 'unsupported' },
          reasons: ['29990101000000_later is applied, and this version does not know it.'],
          next: expect.stringMatching(/^A database cannot be downgraded/),
        },
      ]);
      const away = await upgrade({
        DATABASE_URL: `postgres://u:secret-word@127.0.0.1:${await freePort()}/x`,
      });
      expect(away).toEqual({ code: 2, output: expect.stringMatching(/ECONNREFUSED/) });
      expect(away.output).not.toContain('secret-word');
    },
    LIMIT_MS,
  );

  test(
    'decides without a database from the version that runs',
    async () => {
      const { upgradesFrom } = await readReleases();
      expect((await upgrade({}, '--from', upgradesFrom)).code).toBe(0);
      expect(await upgrade({}, '--from', packageVersion())).toEqual({
        code: 0,
        output: expect.stringContaining('This is that version.'),
      });
      const unknown = await upgrade({}, '--from', '99.0.0');
      expect([unknown.code, unknown.output]).toEqual([
        5,
        expect.stringMatching(/99.0.0 is later than this one/),
      ]);
    },
    LIMIT_MS,
  );
});

describe('the decision for a real database and planted migrations', () => {
  beforeEach(async () => {
    await owner.query("delete from _prisma_migrations where migration_name like '2099%'");
    await owner.query('delete from installation.background_migrations');
  });

  async function judge(...planted: Planted[]) {
    const shipped = await readMigrations(await plantMigrations(...planted));
    const installation = {
      history: await readHistory(owner),
      background: await readBackgroundMigrations(owner),
    };
    const verdict = judgeUpgrade(installation, shipped, await readReleases());
    return { code: UPGRADE_CODES[verdict.verdict], reasons: verdict.reasons };
  }

  const background: Planted = {
    name: BACKGROUND,
    script: '-- upgrade: background\nselect 1',
    background: '-- table: carriers\nselect null as last, 0 as rows',
  };
  const dependent: Planted = {
    name: '20990102000000_dependent',
    script: `-- upgrade: rolling\n-- requires: ${BACKGROUND}\nselect 1`,
  };

  const recordApplied = (name: string) =>
    owner.query(
      'insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ($1, $1, $2, now())',
      [name.slice(0, 20), name],
    );
  const recordBackground = (status: string) =>
    owner.query(
      'insert into installation.background_migrations (name, status, rows_total) values ($1, $2, 1)',
      [BACKGROUND, status],
    );

  test('is 0 for a rolling and for a background migration', async () => {
    const rolling = { name: '20990101000000_rolling', script: '-- upgrade: rolling\nselect 1' };
    expect(await judge(rolling, background)).toMatchObject({ code: 0 });
  });

  test('is 3 for a migration that needs a stop, and 5 for one that does not say what it is, which migrate refuses', async () => {
    const stop = { name: '20990101000000_stop', script: '-- upgrade: stop\n-- because: x\nselect 1' };
    expect(await judge(stop)).toEqual({
      code: 3,
      reasons: ['The running version does not survive 20990101000000_stop.'],
    });
    expect(await judge({ name: '20990101000000_silent', script: 'select 1', isBare: true })).toEqual({
      code: 5,
      reasons: [
        expect.stringMatching(/^20990101000000_silent has no header\. Begin its migration\.sql with /),
      ],
    });
  });

  test.each([
    ['running', 4],
    ['paused', 4],
    ['finished', 0],
  ])('of a required background migration that is %s is %d', async (status, code) => {
    await recordApplied(BACKGROUND);
    await recordBackground(status);
    expect(await judge(background, dependent)).toMatchObject({ code });
  });

  test('is 5 for a jump over the release with the background migration', async () => {
    expect(await judge(background, dependent)).toEqual({
      code: 5,
      reasons: [`20990102000000_dependent needs ${BACKGROUND} to be finished, and it is not applied yet.`],
    });
  });

  test('is 5 for a database that is older than the oldest supported release', async () => {
    await owner.query('begin');
    await owner.query("delete from _prisma_migrations where migration_name like '%_delivery_order'");
    const result = await judge();
    await owner.query('rollback');
    expect(result).toEqual({
      code: 5,
      reasons: [expect.stringMatching(/_delivery_order of version .* is not applied/)],
    });
  });

  test('is 5 while a migration is unfinished, and 0 for a new database', async () => {
    await owner.query('begin');
    await owner.query("update _prisma_migrations set finished_at = null where migration_name like '%_bills'");
    const unfinished = await judge();
    await owner.query('delete from _prisma_migrations');
    const fresh = await judge();
    await owner.query('rollback');
    expect([unfinished.code, fresh.code]).toEqual([5, 0]);
  });
});
