import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { blockNames, blockOf, openTerminal } from '../../support/restores/restore-page.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

// The blocks of docs/restore.md, of which each command fails once. PostgreSQL's programs are replaced. lost-disk.test.ts has the real ones.

const DEFINITIONS = ['values', 'values-initdb', 'values-compose'];
const BLOCKS = blockNames().filter((name) => !DEFINITIONS.includes(name));

/** These may fail: PostgreSQL may run or not run already, and the next line of the block examines it. */
const MAY_FAIL = /^pg_ctlcluster /;

afterAll(removeFolders);

const PASSWORD = 'a1'.repeat(32);

/** What the programs print or do, beside the ones that are real. */
const FAKES: Record<string, string> = {
  runuser: 'case "$*" in *" status") exit 3;; esac',
  psql: `case "$*" in *data_directory*) echo "$DATA";; *archive_mode*) echo on;; *pg_create_restore_point*) echo 000000010000000000000001;; *paused_at*) echo paused;; esac`,
  pg_ctlcluster: '',
  timeout: '',
  pg_basebackup: '/bin/mkdir -p "$BACKUP/base.new"',
  pg_verifybackup: '',
  pg_dump: ': >"$BACKUP/crossdock.dump.new"',
  // A migration of the dump.
  pg_restore: 'echo 0198c0de-0000-7000-8000-000000000001',
  sh: '',
  engine: `case "$*" in *paused_at*) echo paused;; *pg_restore*) echo 0198c0de-0000-7000-8000-000000000001;; esac`,
};
const REAL = ['mv', 'rm', 'cat', 'grep', 'date', 'mkdir', 'ls', 'wc'];

/**
 * Pastes a block on a machine whose server has stopped.
 *
 * @param failing the number of the call that fails; none by default
 * @param before what is pasted before the block
 */
async function paste(name: string, failing = 0, before = '') {
  const machine = await makeFolder();
  const calls = join(machine, 'calls');
  writeFileSync(calls, '');
  for (const folder of ['bin', 'main/pg_wal', 'main/base', 'backup/base', 'backup/archive', 'secrets'])
    mkdirSync(join(machine, folder), { recursive: true });
  for (const [role, secret] of [
    ['OWNER', 'DATABASE_OWNER_URL'],
    ['LOGIN', 'DATABASE_URL'],
  ] as const) {
    writeFileSync(join(machine, 'secrets', `${role}_PASSWORD`), `${PASSWORD}\n`);
    writeFileSync(
      join(machine, 'secrets', secret),
      `postgres://crossdock_${role.toLowerCase()}:${PASSWORD}@db/crossdock\n`,
    );
  }
  const fakes = { ...FAKES, ...Object.fromEntries(REAL.map((each) => [each, `exec /bin/${each} "$@"`])) };
  for (const [program, script] of Object.entries(fakes)) {
    const path = join(machine, 'bin', program);
    writeFileSync(
      path,
      `#!/bin/sh\necho "${program} $*" >>${calls}\ntest "$(/usr/bin/wc -l <${calls})" -ne ${failing} || exit 1\n${script}\n`,
    );
    chmodSync(path, 0o755);
  }
  if (name === 'compose-load') writeFileSync(join(machine, 'backup', 'crossdock.dump'), '');
  // The recovered server runs, and the lost one too.
  if (name === 'finish')
    for (const folder of ['main', 'main.lost']) {
      mkdirSync(join(machine, folder), { recursive: true });
      writeFileSync(join(machine, folder, 'postmaster.pid'), '');
    }
  const names = `DATA=${machine}/main CONFIG=${machine}/etc BIN=${machine}/bin BACKUP=${machine}/backup ARCHIVE=${machine}/backup/archive
SECRETS=${machine}/secrets DEPLOY=${machine}/deploy`;
  const shell = openTerminal(names, { PATH: join(machine, 'bin') });
  const printed = shell.paste(
    `${/^(start-lost|give-up|finish)$/.test(name) ? `LOST=${machine}/main.lost REMAINDER=${machine}/main.lost/pg_wal\n` : ''}${before}\n${blockOf(name)}`,
  );
  return {
    machine,
    last: printed.split('\n').at(-1),
    calls: readFileSync(calls, 'utf8').trim().split('\n'),
  };
}

test('the page has the blocks of this test', () => {
  expect(BLOCKS).toEqual([
    'connect',
    'base-backup',
    'replication',
    'prune-list',
    'prune',
    'dump',
    'put-aside',
    'lost-disk',
    'list-backups',
    'recover',
    'give-up',
    'give-up-timeline',
    'start',
    'roles',
    'start-lost',
    'finish',
    'rename',
    'load',
    'compose-dump',
    'compose-rename',
    'compose-load',
  ]);
});

describe.each(BLOCKS)('the block %s', (name) => {
  test('ends with OK if everything works', async () => {
    expect((await paste(name)).last).toMatch(/^OK: /);
  });

  test('ends with FAILED whichever command fails, executes none after it, and loses no backup', async () => {
    const { calls: all } = await paste(name);
    expect(all.filter((call) => !MAY_FAIL.test(call))).not.toEqual([]);
    for (const [index, call] of all.entries()) {
      if (MAY_FAIL.test(call)) continue;
      const { machine, last, calls } = await paste(name, index + 1);
      expect([call, last, calls.slice(index + 1)]).toEqual([call, expect.stringMatching(/^FAILED: /), []]);
      expect(readdirSync(join(machine, 'backup'))).toContainEqual(
        expect.stringMatching(/^base(\.\d+T\d+)?$/),
      );
      expect(existsSync(join(machine, 'main'))).toBe(true);
      rmSync(machine, { recursive: true, force: true });
    }
  });
});

describe('the block names its one cause:', () => {
  test.each([
    ['base-backup', 'rm -r "$BACKUP/base"; BIN=/none', /^FAILED: there is no complete base backup$/],
    [
      'base-backup',
      'BIN=/none; : >"$BACKUP/base/backup_manifest"',
      /^FAILED: there is no complete base backup$/,
    ],
    [
      'base-backup',
      'BIN=/none; echo x >"$BACKUP/base/backup_manifest"',
      /^FAILED: the newest complete backup is the one of before, \S+backup\/base$/,
    ],
    [
      'base-backup',
      'BIN=/none; mkdir "$BACKUP/base.20261101T000000000"; echo x >"$BACKUP/base.20261101T000000000/backup_manifest"',
      /^FAILED: the newest complete backup is the one of before, \S+backup\/base\.20261101T000000000$/,
    ],
    ['dump', 'BIN=/none', /^FAILED: there is no complete dump\. A database/],
    [
      'dump',
      'BIN=/none; echo x >"$BACKUP/crossdock.dump"',
      /^FAILED: the newest complete dump is .*crossdock\.dump\. A/,
    ],
    ['put-aside', 'LOST=/srv/lost', /^FAILED: nothing is renamed\. A server was put aside already: LOST is/],
    ['put-aside', ': >"$DATA/restore.unfinished"', /^FAILED: nothing is renamed\. \S+ was recovered, and/],
    ['put-aside', 'DATA=/srv/none', /^FAILED: nothing is renamed\. \/srv\/none is no data folder\./],
    ['put-aside', 'as_postgres() { return 0; }', /^FAILED: nothing is renamed\. PostgreSQL still runs on/],
    ['put-aside', 'as_postgres() { return 4; }', /^FAILED: nothing is renamed\. It is unknown whether/],
    ['lost-disk', 'LOST=/srv/lost', /^FAILED: nothing is renamed\. LOST is '\/srv\/lost'/],
    ['lost-disk', ': >"$DATA/restore.unfinished"', /^FAILED: nothing is renamed\. \S+ was recovered\./],
    ['lost-disk', 'mkdir "$DATA"/base/1 "$DATA"/base/2 "$DATA"/base/3 "$DATA"/base/4', / has databases, so/],
    [
      'start',
      'psql() { echo /srv/other; }',
      /^FAILED: PostgreSQL does not run on \S+\/main\. Read its log\.$/,
    ],
    ['start', 'timeout() { return 1; }', /^FAILED: PostgreSQL does not archive: /],
    ['start', ': >"$ARCHIVE/00000001.given-up"', /^FAILED: the timeline of this server is given up: /],
  ])('%s after %s', async (name, before, cause) => {
    const { last, machine } = await paste(name, 0, before);
    expect(last).toMatch(cause);
    expect(existsSync(join(machine, 'main'))).toBe(true);
  });
});
