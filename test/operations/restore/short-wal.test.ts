import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { onDebian } from '../../support/restores/on-debian.js';
import { blockOf } from '../../support/restores/restore-page.js';
import {
  expectFailed,
  expectNothing,
  expectOk,
  kill,
  parcels,
  putAside,
  recoverBlock,
  sql,
  work,
} from '../../support/restores/restored-cluster.js';

// A WAL file of the lost server that is too short: its disk has lost the end.

const EVERYTHING = '';

const onServer = onDebian();

onServer(
  'the last WAL file of the lost server gives what it has if it is too short, and is never changed itself',
  async (cluster, terminal) => {
    expectOk(terminal, blockOf('replication'));
    expectOk(terminal, blockOf('base-backup'));
    await work(cluster, 1, 10);
    sql(
      cluster,
      'do $$ begin for n in 11..400 loop insert into parcels values (n, clock_timestamp()); commit; end loop; end $$',
    );
    const [file = '', bytes = ''] = sql(
      cluster,
      "select file_name || ' ' || file_offset from pg_walfile_name_offset(pg_current_wal_flush_lsn())",
    ).split(' ');
    await kill(cluster);
    const path = join(putAside(terminal), file);
    const whole = readFileSync(path);
    // No whole number of pages.
    const kept = Math.floor(Number(bytes) * 0.7) | 1;
    truncateSync(path, kept);
    const lost = readFileSync(path);

    const printed = expectOk(terminal, recoverBlock(EVERYTHING));
    expect(printed).toMatch(
      new RegExp(
        `^WARNING: The last WAL file of the lost server, ${path}, has ${kept} bytes instead of 16777216\\.`,
        'm',
      ),
    );
    expect(printed).toMatch(
      /^NOT PROVED: the last WAL file .* is too short.* In step 7, compare with the logs/m,
    );
    expect(printed).not.toContain('everything that can be read was recovered');
    expect(readFileSync(path).equals(lost)).toBe(true);
    expectOk(terminal, blockOf('start'));
    const [count = 0, newest = 0] = parcels(cluster).split(' ').map(Number);
    // In the file were 6 to 400.
    expect([count, count > 100, count < 400]).toEqual([newest, true, true]);
    expectOk(terminal, blockOf('give-up'));

    // A file without a page header shows nothing of its place.
    truncateSync(path, 30);
    expectFailed(terminal, recoverBlock(EVERYTHING), /wrong size: 30 instead of/);
    expectNothing(cluster);
    // It is not the last one that the server has written.
    truncateSync(path, 0);
    writeFileSync(path, lost);
    const after =
      file.slice(0, 16) + (parseInt(file.slice(16), 16) + 1).toString(16).toUpperCase().padStart(8, '0');
    const later = join(path, '..', after);
    const begun = Buffer.from(whole);
    begun.writeUInt32LE(begun.readUInt32LE(8) + whole.length, 8);
    writeFileSync(later, begun, { mode: 0o644 });
    expectFailed(terminal, recoverBlock(EVERYTHING), new RegExp(`wrong size: ${kept} instead of`));
    expectNothing(cluster);
    rmSync(later);

    // With a better copy of the file, nothing is missing.
    writeFileSync(path, whole);
    expect(expectOk(terminal, recoverBlock(EVERYTHING))).not.toContain('WARNING');
    expectOk(terminal, blockOf('start'));
    expect([parcels(cluster), statSync(path).size]).toEqual(['400 400', whole.length]);
  },
);
