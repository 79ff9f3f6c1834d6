import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
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
  kill,
  nextSecond,
  parcels,
  putAside,
  recoverBlock,
  sql,
  work,
  type Cluster,
} from '../../support/restores/restored-cluster.js';
import { freePort } from '../../support/service/processes.js';

// Rows that a recovery does not reach, although their WAL exists: PostgreSQL takes the first record that it cannot read for the end.

const EVERYTHING = '';
const PAGE_BYTES = 8192;

const onServer = onDebian();

const archiveOf = ({ folder }: Cluster) => join(folder, 'backup', 'archive');

/** Writes parcels in a transaction each. Returns the WAL file of the last ones, and the bytes of it that are written. */
function workInPieces(cluster: Cluster, from: number, to: number): { file: string; bytes: number } {
  sql(
    cluster,
    `do $$ begin for n in ${from}..${to} loop insert into parcels values (n, clock_timestamp()); commit; end loop; end $$`,
  );
  const [file = '', bytes = ''] = sql(
    cluster,
    "select file_name || ' ' || file_offset from pg_walfile_name_offset(pg_current_wal_flush_lsn())",
  ).split(' ');
  return { file, bytes: Number(bytes) };
}

/** Fills a part of a file with zeros, as a disk that fails does: the file keeps its times. Returns the function that takes it back. */
function zero(path: string, from: number, to: number): () => void {
  const good = readFileSync(path);
  const { atime, mtime } = statSync(path);
  const write = (content: Buffer) => {
    writeFileSync(path, content);
    utimesSync(path, atime, mtime);
  };
  write(Buffer.from(good).fill(0, from, to));
  return () => write(good);
}

const damage = (path: string, page: number) => zero(path, page * PAGE_BYTES, (page + 1) * PAGE_BYTES);

/** The name of the WAL file after another one. */
const following = (file: string): string =>
  file.slice(0, 16) + (parseInt(file.slice(16), 16) + 1).toString(16).toUpperCase().padStart(8, '0');

const accepting = (text: string, location: string) =>
  text.replace('UNTIL=', `ACCEPT_LOSS_AFTER='${location}' UNTIL=`);

onServer(
  'WAL that a damaged page hides is no success, in the last file of the lost server and in the archive, unless its loss is accepted',
  async (cluster, terminal) => {
    expectOk(terminal, blockOf('base-backup'));
    await work(cluster, 1, 10);
    const { file, bytes } = workInPieces(cluster, 11, 400);
    expect(bytes).toBeGreaterThan(4 * PAGE_BYTES);
    await kill(cluster);
    const remainder = putAside(terminal);

    // A server prepares later files, so that their presence shows that one is missing.
    const [missing, later] = [join(remainder, `${file}.away`), join(remainder, following(file))];
    renameSync(join(remainder, file), missing);
    const isPrepared = existsSync(later);
    if (!isPrepared) writeFileSync(later, Buffer.alloc(statSync(missing).size), { mode: 0o644 });
    expectFailed(
      terminal,
      recoverBlock(EVERYTHING),
      new RegExp(`the file ${file} is missing, and a later one`),
    );
    expectNothing(cluster);
    if (!isPrepared) rmSync(later);
    renameSync(missing, join(remainder, file));

    // The lost server alone has the file.
    const middle = Math.floor(bytes / PAGE_BYTES / 2);
    const mend = damage(join(remainder, file), middle);
    const failure = terminal.paste(recoverBlock(EVERYTHING));
    expect(failure).toMatch(
      new RegExp(`WAL after it exists in ${file}, with transactions until .*\\nFAILED: there is no`),
    );
    expectNothing(cluster);
    const [, end = ''] = /ACCEPT_LOSS_AFTER='([^']+)'/.exec(failure) ?? [];
    expectFailed(terminal, accepting(recoverBlock(EVERYTHING), '0/1'), /WAL after it exists/);
    const accepted = expectOk(terminal, accepting(recoverBlock(EVERYTHING), end));
    expect(accepted).toMatch(new RegExp(`^WARNING: The recovery ended at ${end}.* It is lost`, 'm'));
    expect(accepted).toMatch(
      new RegExp(
        `^NOT PROVED: the WAL after ${end} was not read, and ACCEPT_LOSS_AFTER accepts its loss\\.`,
        'm',
      ),
    );
    expect(accepted).not.toContain('everything that can be read was recovered');
    expectOk(terminal, blockOf('give-up'));
    mend();
    expect(expectOk(terminal, recoverBlock(EVERYTHING))).not.toContain('WARNING');
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('400 400');
    await work(cluster, 401, 410);
    workInPieces(cluster, 411, 600);
    await work(cluster, 601, 602);
    await kill(cluster);
    putAside(terminal);

    // The disk is lost, and a complete file of the archive is damaged. It is the newest one.
    const withArchive = (text: string) => `export LOST='' REMAINDER="$ARCHIVE"\n${text}`;
    const newest =
      readdirSync(archiveOf(cluster))
        .filter((name) => /^[0-9A-F]{24}$/.test(name))
        .sort()
        .at(-1) ?? '';
    const mendArchive = damage(join(archiveOf(cluster), newest), 1);
    expectFailed(
      terminal,
      withArchive(recoverBlock(EVERYTHING)),
      new RegExp(`WAL after it exists in ${newest}`),
    );
    expectNothing(cluster);
    mendArchive();
    expectOk(terminal, withArchive(recoverBlock(EVERYTHING)));
  },
);

onServer(
  'a checkpoint that the lost server had written and the recovery did not reach is no success',
  async (cluster, terminal) => {
    expectOk(terminal, blockOf('base-backup'));
    await work(cluster, 1, 10);
    const { file } = workInPieces(cluster, 11, 400);
    // Nothing follows the checkpoint, so that no later page shows that its own one is damaged.
    sql(cluster, 'checkpoint');
    await kill(cluster);
    const remainder = putAside(terminal);
    const pages = readFileSync(join(remainder, file));
    const written = Array.from({ length: pages.length / PAGE_BYTES }, (_, page) => page).filter((page) =>
      pages.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES).some(Boolean),
    );
    damage(join(remainder, file), written.at(-1) ?? 0);
    expectFailed(terminal, recoverBlock(EVERYTHING), /but the lost server had written WAL up to /);
    expectNothing(cluster);
  },
);

onServer(
  'zeros at the end of the WAL, which look like its end, are never a bare success, and the time of the file shows them',
  async (cluster, terminal) => {
    expectOk(terminal, blockOf('base-backup'));
    await work(cluster, 1, 10);
    const { file, bytes } = workInPieces(cluster, 11, 50);
    expect(workInPieces(cluster, 51, 400).file).toBe(file);
    await kill(cluster);
    const path = join(putAside(terminal), file);
    const good = readFileSync(path);
    zero(path, bytes, statSync(path).size);
    const lost = readFileSync(path);
    const printed = expectOk(terminal, recoverBlock(EVERYTHING));
    expect(printed).toMatch(/^NOT PROVED: .* In step 7, compare with the logs of the service/m);
    expect(printed).toMatch(
      /^The recovery followed the timeline 00000001\. The recovered server has the timeline 00000002\.$/m,
    );
    expect(printed).toMatch(/^OK: .* step 7 shows$/m);
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('50 50');

    // The lost server, once started, writes into its last file. A recovery reads the file as the loss has left it, or a better copy of it.
    const started = blockOf('start-lost').replace('5503', String(await freePort()));
    expectOk(terminal, started);
    terminal.paste('stop_postgres');
    expectOk(terminal, blockOf('give-up'));
    expectFailed(terminal, recoverBlock(EVERYTHING), /The lost server still runs in \S+main\.lost-/);
    expectNothing(cluster);
    const unstarted = join(dirname(dirname(path)), 'unstarted', 'pg_wal', file);
    terminal.paste('as_postgres "$BIN/pg_ctl" -D "$LOST" -w stop');
    expect([readFileSync(unstarted).equals(lost), readFileSync(path).equals(lost)]).toEqual([true, false]);
    expectOk(terminal, recoverBlock(EVERYTHING));
    expectOk(terminal, blockOf('give-up'));
    writeFileSync(unstarted, good);
    expectOk(terminal, recoverBlock(EVERYTHING));
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('400 400');
    terminal.paste('stop_postgres');
    expectOk(terminal, blockOf('give-up'));
    writeFileSync(unstarted, lost);

    // Work of two minutes is behind the zeros.
    const late = new Date(Date.now() + 120_000);
    utimesSync(unstarted, late, late);
    expect(expectOk(terminal, recoverBlock(EVERYTHING))).toMatch(
      new RegExp(
        `^WARNING: The file \\S+${file} was written until .* zeros at its end hide transactions`,
        'm',
      ),
    );
    expectOk(terminal, blockOf('give-up'));
  },
);

onServer(
  'a restore that replays nothing says so, and which time counts for the report',
  async (cluster, terminal) => {
    expectOk(terminal, blockOf('base-backup'));
    await kill(cluster);
    putAside(terminal);
    expect(expectOk(terminal, blockOf('list-backups'))).toMatch(
      /^BASE='\S+' restores to the end of the WAL only, without UNTIL: the WAL has no transaction after \d{4}-/m,
    );
    expect(expectOk(terminal, recoverBlock(EVERYTHING))).toMatch(
      /^No transaction was replayed: .* which began at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00\. Give that time as --since/m,
    );
  },
);

onServer(
  'a time whose rows only an abandoned timeline has is refused, with the commands for both choices',
  async (cluster, terminal) => {
    const now = () => sql(cluster, "select clock_timestamp() at time zone 'UTC' || '+00'");
    expectOk(terminal, blockOf('base-backup'));
    await nextSecond();
    await work(cluster, 1, 10);
    const first = now();
    await work(cluster, 11, 20);
    const second = now();
    await work(cluster, 21, 30);
    await kill(cluster);
    putAside(terminal);
    expectOk(terminal, recoverBlock(first));
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('10 10');
    await work(cluster, 901, 902);
    const third = now();
    await work(cluster, 903, 904);
    await kill(cluster);
    putAside(terminal);

    // Before and after that part, the work of the newer timeline counts.
    expectOk(terminal, recoverBlock(first));
    expectOk(terminal, blockOf('give-up'));
    expectOk(terminal, recoverBlock(third));
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('12 902');
    terminal.paste('stop_postgres');
    expectOk(terminal, blockOf('give-up'));

    // The folder of an older lost server is not concerned.
    const older = join(`${cluster.data}.lost-20200101T000000`, 'pg_wal');
    mkdirSync(older, { recursive: true });
    writeFileSync(join(older, `0000000A${'0'.repeat(16)}`), '');
    const refused = terminal.paste(recoverBlock(second));
    expect(refused).toMatch(
      /The timeline 00000002 began at \S+ after the transaction of .*The timeline 00000001, which was left there, has 2 more until your time/,
    );
    expectNothing(cluster);
    const [, until = ''] = /\(1\).*UNTIL='([^']+)'/.exec(refused) ?? [];
    expectOk(terminal, recoverBlock(until));
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('10 10');
    terminal.paste('stop_postgres');
    expectOk(terminal, blockOf('give-up'));

    const [, assignment = ''] = /\(2\).*?(export REMAINDER=[^,]+),/.exec(refused) ?? [];
    expect(refused).toMatch(/, paste the block give-up-timeline with 00000002, and paste this block again/);
    expect(refused).toMatch(/Then both lost servers count in step 7: \S+main\.lost-\w+ \S+main\.lost-\w+\./);
    expectOk(terminal, `${assignment}\n${blockOf('give-up-timeline').replace("''", "'00000002'")}`);
    expectOk(terminal, recoverBlock(second));
    expectOk(terminal, blockOf('start'));
    expect(parcels(cluster)).toBe('20 20');
  },
);
