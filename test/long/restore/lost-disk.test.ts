import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from '@jest/globals';
import { onDebian } from '../../support/restores/on-debian.js';
import { blockOf } from '../../support/restores/restore-page.js';
import {
  expectFailed,
  expectNothing,
  expectOk,
  isRoot,
  kill,
  parcels,
  recoverBlock,
  sql,
  work,
  type Cluster,
} from '../../support/restores/restored-cluster.js';

// The restore of docs/restore.md with the archive alone. test/long/documented-restore.test.ts has the one with the lost server.

const EVERYTHING = '';

const filesOf = (folder: string, beginning: string) =>
  readdirSync(folder).filter((name) => name.startsWith(beginning) && /^[0-9A-F]{24}$/.test(name));

/** Deletes the folders of servers that were given up. */
function removeGivenUp({ data }: Cluster): void {
  for (const name of readdirSync(dirname(data)).filter((each) => each.includes('.given-up-')))
    rmSync(join(dirname(data), name), { recursive: true });
}

const onServer = onDebian();

onServer(
  'without the lost disk, a missing file, an unreadable archive and a server that was given up are no success',
  async (cluster, terminal) => {
    expectOk(terminal, blockOf('base-backup'));
    await work(cluster, 1, 10);
    await work(cluster, 11, 20);
    await work(cluster, 21, 30);
    await kill(cluster);
    const archive = join(cluster.folder, 'backup', 'archive');
    // The disk is not lost.
    expectFailed(terminal, blockOf('lost-disk'), /has databases, so the disk is not lost/);
    // The disk is lost.
    renameSync(cluster.data, join(cluster.folder, 'lost'));
    // The package of PostgreSQL has created an empty server.
    for (const database of ['1', '4', '5'])
      mkdirSync(join(cluster.data, 'base', database), { recursive: true });
    for (let n = 0; n < 2; n += 1) expectOk(terminal, blockOf('lost-disk'));
    expectNothing(cluster);
    expectFailed(terminal, blockOf('recover'), /The time 'TIME' has no zone/);
    const withArchive = (text: string) => `export LOST='' REMAINDER="$ARCHIVE"\n${text}`;

    const files = readdirSync(archive)
      .filter((name) => /^[0-9A-F]{24}$/.test(name))
      .sort();
    const middle = join(archive, files.at(-2) ?? '');
    renameSync(middle, `${middle}.away`);
    const isHidden = new RegExp(
      `WAL after it exists in (\\w+ )?${files.at(-1)}, with .*The file ${files.at(-2)} is missing or damaged`,
    );
    expectFailed(terminal, withArchive(recoverBlock(EVERYTHING)), isHidden);
    expectNothing(cluster);
    writeFileSync(middle, readFileSync(`${middle}.away`).fill(0xff, 0, 8192));
    expectFailed(terminal, withArchive(recoverBlock(EVERYTHING)), isHidden);
    expectNothing(cluster);
    expectFailed(
      terminal,
      withArchive(recoverBlock(EVERYTHING, '/nope')),
      /^FAILED: There is no base backup at '\/nope'\. There are: \S+\/base\./,
    );
    cpSync(`${middle}.away`, middle);
    if (isRoot) {
      chmodSync(middle, 0o000);
      expectFailed(terminal, withArchive(recoverBlock(EVERYTHING)), /Permission denied[^]*exit code 255/);
      execFileSync('chown', ['postgres', middle]);
    }
    chmodSync(middle, 0o600);
    expectFailed(
      terminal,
      `export REMAINDER="$ARCHIVE/absent"\n${recoverBlock(EVERYTHING)}`,
      /cannot be read/,
    );
    expectNothing(cluster);

    expectOk(terminal, withArchive(recoverBlock(EVERYTHING)));
    expectOk(terminal, blockOf('start'));
    // What was written after the last archived file is lost with the disk.
    expect(parcels(cluster)).toBe('25 25');
    await work(cluster, 901, 902);
    expectOk(terminal, blockOf('give-up'));
    // The folder of the server that was given up is lost too, and the archive still has its files.
    removeGivenUp(cluster);
    expect(filesOf(archive, '00000002')).not.toEqual([]);
    expectOk(terminal, withArchive(recoverBlock(EVERYTHING)));
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('25 25');
    await work(cluster, 26, 30);

    // The disk is lost again.
    await kill(cluster);
    renameSync(cluster.data, join(cluster.folder, 'lost-again'));
    expectOk(terminal, withArchive(recoverBlock(EVERYTHING)));
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('28 28');
    // A server whose archive is broken is not declared to be complete, although the archive has a file of that name.
    sql(cluster, "alter system set archive_command = 'false'");
    sql(cluster, 'select pg_reload_conf()');
    const next = sql(cluster, "select pg_walfile_name(pg_create_restore_point('next'))");
    writeFileSync(join(archive, next), '');
    expectFailed(
      terminal,
      blockOf('start').replace('timeout 120', 'timeout 3'),
      /^FAILED: PostgreSQL does not archive: /m,
    );
  },
);

onServer(
  'a missing or damaged file of the lost server is no success, whichever copy it is',
  async (cluster, terminal) => {
    expectOk(terminal, blockOf('base-backup'));
    await work(cluster, 1, 10);
    // From here on the archive fails.
    sql(cluster, "alter system set archive_command = 'false'");
    sql(cluster, 'select pg_reload_conf()');
    const written: string[] = [];
    for (const n of [11, 12, 13]) {
      sql(cluster, `insert into parcels values (${n}, now())`);
      written.push(sql(cluster, 'select pg_walfile_name(pg_switch_wal())'));
    }
    sql(cluster, 'insert into parcels values (14, now())');
    await kill(cluster);
    expectFailed(terminal, blockOf('give-up'), /ended \(in production\)|not a server that was recovered/);
    expectOk(terminal, blockOf('put-aside'));
    const lost =
      readdirSync(join(cluster.folder, 'data')).find((name) => name.startsWith('main.lost-')) ?? '';
    const [, middle = ''] = written.map((name) => join(cluster.folder, 'data', lost, 'pg_wal', name));
    renameSync(middle, `${middle}.away`);
    expectFailed(
      terminal,
      recoverBlock(EVERYTHING),
      /WAL after it exists in \w+( \w+)*, with transactions until/,
    );
    expectNothing(cluster);
    renameSync(`${middle}.away`, middle);

    const archive = join(cluster.folder, 'backup', 'archive');
    const newest =
      readdirSync(archive)
        .filter((name) => /^[0-9A-F]{24}$/.test(name))
        .sort()
        .at(-1) ?? '';
    const good = readFileSync(join(archive, newest));
    writeFileSync(join(archive, newest), Buffer.from(good).fill(0xff, 16_384, 24_576));
    expectFailed(
      terminal,
      recoverBlock(EVERYTHING),
      /of the archive differs from the one of the lost server/,
    );
    expectNothing(cluster);
    writeFileSync(join(archive, newest), good);

    expectFailed(terminal, recoverBlock('2026-11-23 21:34:17'), /has no zone/);
    expectOk(terminal, recoverBlock(EVERYTHING));
    terminal.paste('start_postgres');
    expect(parcels(cluster)).toBe('14 14');
  },
);
