import { cp, rm, writeFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import {
  listMigrations,
  MIGRATIONS,
  readMigrations,
  statementsOf,
  type Migration,
} from '../../../src/platform/db/migrations/migration-files.js';
import { findFaults } from '../../../src/platform/db/migrations/check-migrations.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import {
  compareNames,
  describeRelease,
  migrationsOf,
  readReleases,
  RELEASES,
  type Releases,
} from '../../../src/platform/db/migrations/releases.js';
import { nameAfter } from '../../../scripts/develop/new-migration.mjs';
import { releaseMigrations } from '../../../scripts/contract-diff/release-migrations.js';
import { dangersOf, readCatalogue } from '../../support/migrations/catalogue-changes.js';
import { findSquawk, violationsOf } from '../../support/migrations/rules.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

let database: TestDatabase;
let owner: pg.Client;
let migrations: Migration[];
let releases: Releases;

beforeAll(async () => {
  database = await freshDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  migrations = await readMigrations(MIGRATIONS);
  releases = await readReleases();
});

afterAll(async () => {
  await owner.end();
  await database.drop();
  await removeFolders();
});

/** Returns the violations of a migration, and the dangers of what it does. It is rolled back. */
async function judge(migration: Migration): Promise<string[]> {
  const before = await readCatalogue(owner);
  await owner.query('begin');
  try {
    await owner.query(migration.script.replaceAll(/ concurrently/gi, ''));
    const dangers =
      migration.upgrade === 'stop' ? [] : dangersOf(before, await readCatalogue(owner), migration.script);
    return [...violationsOf(migration), ...dangers];
  } finally {
    await owner.query('rollback');
  }
}

/** Reads a migration from a folder, as the service does. */
async function plant(script: string, background?: string): Promise<Migration> {
  const folder = await makeFolder();
  await mkdir(join(folder, '20990101000000_planted'));
  await writeFile(join(folder, '20990101000000_planted', 'migration.sql'), script);
  if (background) await writeFile(join(folder, '20990101000000_planted', 'background.sql'), background);
  const [planted] = await readMigrations(folder);
  if (!planted) throw new Error('nothing was planted');
  return planted;
}

describe('the migrations after the last release', () => {
  test('the released migrations are as they were released', () => {
    for (const [version, release] of Object.entries(releases.versions))
      expect([version, describeRelease(migrationsOf(release, migrations))]).toEqual([version, release]);
    expect(Object.keys(releases.versions)).toContain(releases.upgradesFrom);
  });

  test('no migration was renamed, removed or inserted before the last one of a release', () => {
    const names = migrations.map(({ name }) => name);
    for (const [version, release] of Object.entries(releases.versions))
      expect(compareNames(version, release, names)).toEqual([]);
    const version = releases.upgradesFrom;
    const release = releases.versions[version];
    if (!release) throw new Error('There is no release.');
    const [first = '', second = ''] = names;
    const compared = (changed: string[]) => compareNames(version, release, changed);
    expect(compared(names.filter((name) => name !== second))).toEqual([
      `${second} of version ${version} is missing or was renamed. Restore its folder.`,
    ]);
    expect(compared([first, `${first}_again`, ...names.slice(1)])).toEqual([
      `${first}_again sorts before ${release.last}, the last migration of version ${version}. Rename its folder so that it sorts last.`,
    ]);
    expect(compared([...names, '29990101000000_later'])).toEqual([]);
  });

  test('each has a name with a time, and a header unless it is of the first release', () => {
    expect(findFaults(migrations)).toEqual([]);
  });

  test('npm run new:migration chooses a name that sorts after all others', () => {
    const names = migrations.map(({ name }) => name);
    const last = names.at(-1) ?? '';
    for (const now of ['2020-01-01T00:00:00Z', '2026-12-13T23:59:59Z', '2099-12-31T23:59:59Z'])
      expect([nameAfter(names, 'a', new Date(now)), last].sort()).toEqual([
        last,
        nameAfter(names, 'a', new Date(now)),
      ]);
    expect(nameAfter(['20261231235959_z'], 'added', new Date('2026-12-01T00:00:00Z'))).toBe(
      '20270101000000_added',
    );
    expect(nameAfter(names, 'added', new Date('2099-12-31T23:59:59Z'))).toBe('20991231235959_added');
    expect(nameAfter([], 'first', new Date('2026-12-01T01:02:03Z'))).toBe('20261201010203_first');
    expect([...names].sort()).toEqual(names);
  });

  test('a release adds its migrations', async () => {
    const path = join(await makeFolder(), 'released.json');
    await cp(RELEASES, path);
    await releaseMigrations('99.0.0', path);
    const { versions } = await readReleases(path);
    expect(versions).toEqual({ ...releases.versions, '99.0.0': describeRelease(migrations) });
  });

  test('processes of the last release survive each of them', async () => {
    const last = Object.values(releases.versions).at(-1);
    if (!last) throw new Error('There is no release.');
    const folder = await makeFolder();
    await cp(MIGRATIONS, folder, { recursive: true });
    for (const name of await listMigrations(folder))
      if (name > last.last) await rm(join(folder, name), { recursive: true });
    await owner.query(
      'drop schema public, queue, graphile_worker, installation cascade; create schema public',
    );
    await migrate(database.ownerUrl, folder);
    for (const migration of migrations.filter(({ name }) => name > last.last)) {
      expect([migration.name, await judge(migration)]).toEqual([migration.name, []]);
      for (const statement of migration.isConcurrent ? statementsOf(migration.script) : [migration.script])
        await owner.query(statement);
    }
  }, 60_000);

  test('a migration that requires another names a background migration of an earlier release', () => {
    const last = Object.values(releases.versions).at(-1)?.last ?? '';
    const released = migrations.filter(({ name, background }) => background && name <= last);
    const required = migrations.filter(({ name }) => name > last).flatMap(({ requires }) => requires);
    expect(required.filter((name) => !released.some((each) => each.name === name))).toEqual([]);
  });
});

const BAD: [title: string, script: string, message: RegExp][] = [
  ['has no header', 'create table t (id int)', /Begin the script with "-- upgrade: rolling"/],
  ['stops without a reason', '-- upgrade: stop\ndrop table carriers cascade', /add "-- because: <reason>"/],
  ['is a background migration without a statement', '-- upgrade: background\nselect 1', /belong together/],
  ['drops a column', 'alter table carriers drop column name', /^column carriers.name dropped. Stop using it/],
  ['renames a column', 'alter table carriers rename name to title', /^column carriers.name dropped/],
  [
    'retypes a column',
    'alter table carriers alter name type varchar(40)',
    /^column carriers.name changed. Add a new/,
  ],
  [
    'requires a value',
    'alter table packages alter user_code set not null',
    /^not null packages.user_code added/,
  ],
  [
    'adds a required column',
    'alter table carriers add extra int not null',
    /^required column carriers.extra added/,
  ],
  [
    'removes a default',
    'alter table prealerts alter created_at drop default',
    /^required column prealerts.created_at added/,
  ],
  ['drops a table', 'drop table dispatches cascade', /^table dispatches dropped/],
  ['renames a table', 'alter table dispatches rename to departures', /^table dispatches dropped/],
  [
    'adds a check',
    "alter table carriers add constraint c check (name <> '') not valid",
    /^constraint carriers.c added/,
  ],
  [
    'adds a foreign key',
    `alter table prealerts add constraint k foreign key (tenant_id, id) references packages (tenant_id, id) not valid`,
    /^constraint prealerts.k added. The previous release may write/,
  ],
  [
    'adds a unique index',
    'create unique index concurrently if not exists u on carriers (tenant_id, name)',
    /^unique index u added/,
  ],
  ['drops a policy', 'drop policy staff_writes on carriers', /^policy staff_writes on carriers dropped/],
  [
    'changes a policy',
    'alter policy staff_writes on carriers using (false)',
    /^policy staff_writes on carriers changed/,
  ],
  [
    'adds a restrictive policy',
    'create policy strict on carriers as restrictive using (false)',
    /^restrictive policy strict on carriers added/,
  ],
  [
    'turns row-level security on',
    'alter table installation.deployments enable row level security',
    /^table installation.deployments changed/,
  ],
  [
    'adds a trigger',
    'create trigger t before insert on carriers for each statement execute function refuse_change()',
    /^trigger t on carriers added. It also runs/,
  ],
  [
    'drops a trigger',
    'drop trigger append_only on audit_entries',
    /^trigger append_only on audit_entries dropped/,
  ],
  [
    'turns a trigger off',
    'alter table audit_entries disable trigger append_only',
    /^trigger append_only on audit_entries changed/,
  ],
  [
    'replaces a function with another signature',
    `drop function all_tenants(); create function all_tenants(first int) returns setof uuid language sql as 'select null::uuid'`,
    /^function all_tenants\(\) dropped. The previous release calls it/,
  ],
  [
    'changes what a function returns',
    `drop function all_tenants(); create function all_tenants() returns setof text language sql as 'select null::text'`,
    /^function all_tenants\(\) changed/,
  ],
  ['revokes a right', 'revoke delete on carriers from crossdock_app', /^right delete on carriers dropped/],
  ['sets its own lock timeout', 'set lock_timeout = 0; create table t (id int)', /^Remove the setting/],
  [
    'mixes a concurrent index with other statements',
    'create index concurrently if not exists i on carriers (name); create table t (id int)',
    /^Move "create index concurrently/,
  ],
];

// What only squawk finds.
const BAD_FOR_LOCKS: [title: string, script: string, message: RegExp][] = [
  [
    'builds an index that blocks writes',
    'create index i on carriers (name)',
    /require-concurrent-index-creation/,
  ],
  [
    'validates a constraint at once',
    "alter table carriers add constraint c check (name <> '')",
    /constraint-missing-not-valid/,
  ],
  ['is not valid SQL', 'alter table carriers ad extra int', /syntax/],
];

const GOOD: [title: string, script: string][] = [
  ['adds a column that may be null', 'alter table carriers add extra text'],
  ['adds a column with a default', 'alter table carriers add extra boolean not null default false'],
  ['adds a table with its policy and index', newTable()],
  ['builds an index concurrently', 'create index concurrently if not exists i on carriers (name);'],
  ['drops an index concurrently', 'drop index concurrently if exists webhook_deliveries_due;'],
  ['adds a function', "create function f() returns int language sql as 'select 1'"],
  [
    'adds a policy that admits more',
    'create policy more on carriers for select to crossdock_lookup using (true)',
  ],
  [
    'adds a trigger that was reviewed',
    `-- reviewed: trigger t on carriers added: it only refuses what no release does
create trigger t before truncate on carriers for each statement execute function refuse_change()`,
  ],
];

function newTable(): string {
  return `create table notes (tenant_id uuid not null, id uuid not null, text text not null, primary key (tenant_id, id));
    create index notes_text on notes (tenant_id, text);
    alter table notes enable row level security;
    create policy tenant_scope on notes using (tenant_id = app_tenant());
    grant select on notes to crossdock_app`;
}

describe('the gate', () => {
  const complete = (script: string) =>
    script.startsWith('-- upgrade') ? script : `-- upgrade: rolling\n${script}`;

  test.each(BAD)('rejects a migration that %s', async (title, script, message) => {
    const planted = await plant(title === 'has no header' ? script : complete(script));
    expect(await judge(planted)).toContainEqual(expect.stringMatching(message));
  });

  const withSquawk = findSquawk() ? test.each(BAD_FOR_LOCKS) : test.skip.each(BAD_FOR_LOCKS);
  withSquawk(
    `rejects a migration that %s${findSquawk() ? '' : ' (skipped: squawk does not support this platform)'}`,
    async (_title, script, message) => {
      expect(violationsOf(await plant(complete(script)))).toContainEqual(expect.stringMatching(message));
    },
  );

  test.each(GOOD)('accepts a migration that %s', async (_title, script) => {
    expect(await judge(await plant(complete(script)))).toEqual([]);
  });

  test('accepts a stop with a reason, and a background migration with its statement', async () => {
    const stop = '-- upgrade: stop\n-- because: the table never had rows\ndrop table dispatches cascade';
    expect(await judge(await plant(stop))).toEqual([]);
    const background = '-- upgrade: background\nalter table carriers add extra text';
    expect(await judge(await plant(background, '-- table: carriers\nselect 1'))).toEqual([]);
  });
});
