import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { onDebian } from '../../support/restores/on-debian.js';
import { blockOf } from '../../support/restores/restore-page.js';
import {
  expectFailed,
  expectOk,
  kill,
  parcels,
  recoverBlock,
  sql,
  work,
  type Cluster,
} from '../../support/restores/restored-cluster.js';

// The blocks of docs/restore.md that delete base backups and WAL, on a real server whose backups get different ages.

const DAY_MS = 86_400_000;

const onServer = onDebian();

const backupOf = ({ folder }: Cluster) => join(folder, 'backup');

const baseBackups = (cluster: Cluster) =>
  readdirSync(backupOf(cluster))
    .filter((name) => name.startsWith('base'))
    .sort();

const archived = (cluster: Cluster) =>
  readdirSync(join(backupOf(cluster), 'archive'))
    .filter((name) => /^[0-9A-F]{24}$/.test(name))
    .sort();

/** Returns the first file of WAL that a base backup needs. */
function firstWal(cluster: Cluster, name: string): string {
  const label = readFileSync(join(backupOf(cluster), name, 'backup_label'), 'utf8');
  return /\(file ([0-9A-F]{24})\)/.exec(label)?.[1] ?? '';
}

/** Makes a base backup older. */
function age(cluster: Cluster, name: string, days: number): void {
  const time = new Date(Date.now() - days * DAY_MS);
  utimesSync(join(backupOf(cluster), name, 'backup_manifest'), time, time);
}

onServer(
  'what a restore of the last days needs is never deleted, and the rest only after proof',
  async (cluster, terminal) => {
    expectOk(terminal, blockOf('connect'));
    expectFailed(terminal, blockOf('prune'), /has no WAL file|no complete base backup/);
    const space = join(cluster.folder, 'space');
    sql(cluster, `copy (select 1) to program 'mkdir ${space}; cat >${space}.written'`);
    sql(cluster, `create tablespace other_disk location '${space}'`);
    expectFailed(terminal, blockOf('base-backup'), /^The server has tablespaces, which .* other_disk$/m);
    expect(baseBackups(cluster)).toEqual([]);
    sql(cluster, 'drop tablespace other_disk');
    for (const n of [0, 1, 2, 3]) {
      expectOk(terminal, blockOf('base-backup'));
      await work(cluster, n * 10 + 1, n * 10 + 10);
    }
    const [newest = '', oldest = '', middle = '', recent = ''] = baseBackups(cluster);

    // None is older than the days.
    expect(expectOk(terminal, blockOf('prune'))).toMatch(/so all base backups are needed/);
    // The only one that is older than the days is needed for their beginning.
    age(cluster, oldest, 20);
    expectOk(terminal, blockOf('prune'));
    expect(baseBackups(cluster)).toEqual([newest, oldest, middle, recent]);
    const everything = archived(cluster);
    expect(everything[0]).toBe(firstWal(cluster, oldest));
    age(cluster, middle, 16);
    const listed = expectOk(terminal, blockOf('prune-list'));
    expect(listed).toContain(`unneeded ${join(backupOf(cluster), oldest)},`);
    expect(listed).toContain(`needed   ${join(backupOf(cluster), middle)},`);
    expect(baseBackups(cluster)).toEqual([newest, oldest, middle, recent]);
    // Each is one line of its own, before the one of the block.
    for (const days of ['', '0', '014', '-1', '1.5', 'many', '99999999'])
      for (const block of ['prune', 'prune-list'])
        expectFailed(
          terminal,
          blockOf(block).replace('KEEP_DAYS=14', `KEEP_DAYS=${days}`),
          new RegExp(`^FAILED: KEEP_DAYS is '${days}', and must be a number of days, 1 or more.*\\n.*$`),
        );
    expectFailed(terminal, blockOf('prune').replace(' delete ', ' delte '), /'delte', and must be list or/);
    expect(baseBackups(cluster)).toEqual([newest, oldest, middle, recent]);

    // Without proof nothing is deleted.
    const missing = join(backupOf(cluster), 'archive', archived(cluster).at(-2) ?? '');
    renameSync(missing, `${missing}.away`);
    expectFailed(terminal, blockOf('prune'), new RegExp(`does not have ${missing.slice(-24)}`));
    writeFileSync(missing, 'short');
    expectFailed(terminal, blockOf('prune'), /These files are incomplete/);
    renameSync(`${missing}.away`, missing);
    const file = join(backupOf(cluster), middle, 'PG_VERSION');
    renameSync(file, `${file}.away`);
    expectFailed(terminal, blockOf('prune'), /is damaged, so the older ones are needed/);
    renameSync(`${file}.away`, file);
    mkdirSync(join(backupOf(cluster), 'base.20200101T000000'));
    expectFailed(terminal, blockOf('prune'), /base\.20200101T000000 is not a complete base backup/);
    rmSync(join(backupOf(cluster), 'base.20200101T000000'), { recursive: true });
    writeFileSync(join(cluster.data, 'restore.unfinished'), '');
    expectFailed(terminal, blockOf('prune'), /A restore has not ended/);
    rmSync(join(cluster.data, 'restore.unfinished'));
    expectFailed(terminal, `LOST=/x\n${blockOf('prune')}`, /A restore has not ended/);
    terminal.paste('unset LOST REMAINDER');
    terminal.paste('stop_postgres');
    expectFailed(terminal, blockOf('prune'), /PostgreSQL does not run/);
    terminal.paste('start_postgres');
    expect(baseBackups(cluster)).toEqual([newest, oldest, middle, recent]);
    expect(archived(cluster)).toEqual(expect.arrayContaining(everything));

    // Twice: the second time there is nothing to delete.
    for (let n = 0; n < 2; n += 1) {
      expectOk(terminal, blockOf('prune'));
      expect(baseBackups(cluster)).toEqual([newest, middle, recent]);
      expect(archived(cluster)[0]).toBe(firstWal(cluster, middle));
    }
    // The disk is lost, and the oldest backup that stayed restores everything that was archived.
    await kill(cluster);
    renameSync(cluster.data, join(cluster.folder, 'lost'));
    expectOk(
      terminal,
      `export LOST='' REMAINDER="$ARCHIVE"\n${recoverBlock('', join(backupOf(cluster), middle))}`,
    );
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('40 40');
  },
);
