import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { matching } from '../support/assertions/matching.js';
import { findProgram, titleWith } from '../support/harness/programs.js';
import { DEBIAN } from '../support/rehearsal/debian-server.js';
import { blockOf, openTerminal } from '../support/restores/restore-page.js';
import {
  createCluster,
  expectFailed,
  expectNothing,
  expectOk,
  kill,
  nextSecond,
  parcels,
  recoverBlock,
  sql,
  stopClusters,
  urlOf,
  work,
} from '../support/restores/restored-cluster.js';
import { freePort, removeFolders } from '../support/service/processes.js';

// Follows docs/restore.md from the first base backup to the third loss of the server, on real servers that are killed.

const LIMIT_MS = 300_000;
const EVERYTHING = '';

afterEach(stopClusters, LIMIT_MS);

afterAll(removeFolders);

const LAYOUTS = [
  {
    layout: 'in the data folder',
    isDebian: false,
    missing: [DEBIAN ? undefined : 'a PostgreSQL server of Debian'],
  },
  {
    layout: 'of Debian in /etc',
    isDebian: true,
    missing: [
      findProgram('pg_ctlcluster') && DEBIAN ? undefined : 'a PostgreSQL server of Debian with pg_ctlcluster',
    ],
  },
];

describe.each(LAYOUTS)('with the configuration $layout', ({ isDebian, missing }) => {
  (missing.some(Boolean) ? test.skip : test)(
    titleWith(
      'every restore has each row that was archived or is left on the lost server, and no later one',
      missing,
    ),
    async () => {
      const cluster = await createCluster(isDebian);
      const terminal = openTerminal(cluster.names, cluster.env);
      terminal.paste('start_postgres');
      sql(cluster, 'create table parcels (n int primary key, at timestamptz not null)');
      // The setting may also have been made in this way.
      sql(cluster, 'alter system set archive_mode = on');
      expectOk(terminal, blockOf('base-backup'));
      await nextSecond();
      await work(cluster, 1, 10);
      const time = sql(cluster, "select clock_timestamp()::timestamptz(6) at time zone 'UTC' || '+00'");
      await work(cluster, 11, 20);

      // A server that runs is not put aside, nor is one that was recovered.
      expectFailed(terminal, blockOf('put-aside'), /server is running/);
      expectFailed(terminal, recoverBlock(time), /exists\. Put the lost server aside first/);
      await kill(cluster);
      expectOk(terminal, blockOf('put-aside'));
      expectFailed(terminal, blockOf('put-aside'), /nothing is renamed/);
      const archived = readdirSync(join(cluster.folder, 'backup', 'archive')).sort();

      expectFailed(
        terminal,
        recoverBlock('2099-01-01 00:00:00+00'),
        /recovery ended before configured recovery target/,
      );
      expectNothing(cluster);
      expectFailed(terminal, recoverBlock('2026-11-23 21:34:17'), /has no zone/);
      const restored = expectOk(terminal, recoverBlock(time));
      expect(restored).toMatch(/recovery stopping before commit/);
      expect(readdirSync(join(cluster.folder, 'backup', 'archive')).sort()).toEqual(archived);
      expectOk(terminal, blockOf('start'));
      expectOk(terminal, blockOf('start'));
      expect(parcels(cluster)).toBe('10 10');
      await work(cluster, 901, 902);

      // The time was wrong, although the recovered server has archived its own timeline.
      terminal.paste('stop_postgres');
      expectFailed(terminal, blockOf('put-aside'), /LOST is '\S+main\.lost-\d+T\d+'/);
      // In a new terminal.
      expectFailed(
        terminal,
        `LOST=''\n${blockOf('put-aside')}`,
        /restore\.unfinished exists\. To choose another time/,
      );
      terminal.paste('. "$DATA/restore.unfinished"');
      expectOk(terminal, blockOf('give-up'));
      const all = expectOk(terminal, recoverBlock(EVERYTHING));
      expect(all).not.toMatch(matching(/recovery stopping/, restored));
      expectOk(terminal, blockOf('start'));
      expect(parcels(cluster)).toBe('20 20');

      const lostPort = await freePort();
      expectOk(terminal, blockOf('start-lost').replaceAll('5503', String(lostPort)));
      const lostUrl = urlOf({ ...cluster, port: lostPort });
      expect(sql(cluster, 'select count(*) from parcels', lostUrl)).toBe('20');
      expectFailed(terminal, blockOf('prune'), /A restore has not ended/);
      // In a new terminal.
      expect(expectOk(terminal, `LOST='' REMAINDER=''\n${blockOf('finish')}`)).toMatch(/server stopped/);
      // A server whose restore has ended is not given up, nor stopped.
      expectFailed(terminal, blockOf('give-up'), /not a server that was recovered/);
      expect(parcels(cluster)).toBe('20 20');

      // It is lost again before the next base backup, and the old one with both timelines restores it.
      await work(cluster, 21, 30);
      await kill(cluster);
      expectOk(terminal, blockOf('put-aside'));
      expectOk(terminal, recoverBlock(EVERYTHING));
      expectOk(terminal, blockOf('start'));
      expect(parcels(cluster)).toBe('30 30');

      // A backup has the settings of a restore to a time, as an older version of the page left them.
      expectOk(terminal, blockOf('base-backup'));
      appendFileSync(
        join(cluster.folder, 'backup', 'base', 'postgresql.auto.conf'),
        `recovery_target_time = '${time}'\nrecovery_target_action = 'pause'\nrestore_command = 'false'\narchive_mode = off\n`,
      );
      await work(cluster, 31, 40);
      await kill(cluster);
      // People have worked on the recovered server, whose restore has not ended.
      expectFailed(terminal, blockOf('give-up'), /not stopped, but ended \(in production\)/);
      expectOk(terminal, `rm -f "$DATA/restore.unfinished"; unset LOST REMAINDER\n${blockOf('put-aside')}`);
      expectOk(terminal, recoverBlock(EVERYTHING));
      expectOk(terminal, blockOf('start'));
      expect(parcels(cluster)).toBe('40 40');
      expect(
        sql(cluster, "select current_setting('archive_mode') || current_setting('recovery_target_time')"),
      ).toBe('on');
    },
    LIMIT_MS,
  );
});
