import { readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { onDebian } from '../../support/restores/on-debian.js';
import { blockOf } from '../../support/restores/restore-page.js';
import {
  expectFailed,
  expectNothing,
  expectOk,
  kill,
  nextSecond,
  parcels,
  putAside,
  recoverBlock,
  sql,
  work,
  type Cluster,
} from '../../support/restores/restored-cluster.js';

// A restore to a time before the end of the base backup. PostgreSQL recovers to the end of the base backup then, and reports success.

const onServer = onDebian();

const now = (cluster: Cluster) => sql(cluster, "select clock_timestamp() at time zone 'UTC' || '+00'");

onServer(
  'a time before the base backup is refused, also if the archive does not say when it ended, in every time zone',
  async (cluster, terminal) => {
    // CST is also an abbreviation of a zone in America, 14 hours away.
    sql(cluster, "alter system set log_timezone = 'Asia/Shanghai'");
    sql(cluster, 'select pg_reload_conf()');
    await work(cluster, 1, 10);
    const before = now(cluster);
    await work(cluster, 11, 20);
    await nextSecond();
    expectOk(terminal, blockOf('base-backup'));
    await nextSecond();
    const after = now(cluster);
    await work(cluster, 21, 30);
    await kill(cluster);
    putAside(terminal);
    const base = join(cluster.folder, 'backup', 'base');
    const refuse = () => {
      expectFailed(
        terminal,
        recoverBlock(before),
        new RegExp(
          `^FAILED: The base backup ${base} can only be restored to times from \\d{4}-\\S+ \\S+\\+00 on, .*backup has no base backup for your time`,
        ),
      );
      expectNothing(cluster);
    };
    refuse();
    expect(expectOk(terminal, blockOf('list-backups'))).toMatch(
      new RegExp(
        `^BASE='${base}' restores to times from \\S+ \\S+\\+00 until \\S+ \\S+\\+00, the newest`,
        'm',
      ),
    );

    const archive = join(cluster.folder, 'backup', 'archive');
    const [ended = ''] = readdirSync(archive).filter((name) => name.endsWith('.backup'));
    expect(readFileSync(join(archive, ended), 'utf8')).toMatch(/^STOP TIME: .* CST$/m);
    renameSync(join(archive, ended), join(cluster.folder, 'away'));
    refuse();
    // The end of a long backup counts, not its beginning.
    const text = readFileSync(join(cluster.folder, 'away'), 'utf8');
    writeFileSync(join(archive, ended), text.replace(/^(STOP TIME: )\d{4}/m, '$12099'));
    expectFailed(terminal, recoverBlock(after), /can only be restored to times from 2099-/);
    renameSync(join(cluster.folder, 'away'), join(archive, ended));

    expectOk(terminal, recoverBlock(after));
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('20 20');
  },
);

onServer(
  'a time before the newest base backup, whose rows only an abandoned timeline has, is refused with every base backup',
  async (cluster, terminal) => {
    expectOk(terminal, blockOf('base-backup'));
    await nextSecond();
    await work(cluster, 1, 10);
    const first = now(cluster);
    await work(cluster, 11, 20);
    const second = now(cluster);
    await work(cluster, 21, 30);
    await kill(cluster);
    putAside(terminal);
    expectOk(terminal, recoverBlock(first));
    expectOk(terminal, blockOf('start'));
    await work(cluster, 901, 902);
    expectOk(terminal, blockOf('base-backup'));
    await nextSecond();
    await work(cluster, 903, 904);
    const third = now(cluster);
    await work(cluster, 905, 906);
    await kill(cluster);
    putAside(terminal);

    const refused = terminal.paste(recoverBlock(second));
    const [, older = ''] = /paste this block again with BASE='([^']+)'/.exec(refused) ?? [];
    expect([refused, older]).toEqual([
      expect.stringMatching(/^FAILED: .*\nFAILED: /),
      expect.stringMatching(/backup\/base\.\d{8}T\d{9}$/),
    ]);
    expectNothing(cluster);
    expectFailed(terminal, recoverBlock(second, older), /two servers count/);
    expectNothing(cluster);
    expectOk(terminal, recoverBlock(third));
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('14 904');
  },
);
