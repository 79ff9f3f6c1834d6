import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { freePort, makeFolder, until } from '../service/processes.js';
import { DEBIAN } from '../rehearsal/debian-server.js';
import { archiveSettings, blockOf, type Terminal } from './restore-page.js';

// Servers that are restored with the blocks of docs/restore.md.

export const isRoot = process.getuid?.() === 0;

/** A server as the page describes it, in a folder of its own. */
export type Cluster = {
  folder: string;
  data: string;
  config: string;
  port: number;
  names: string;
  env: Record<string, string>;
};

const clusters: Cluster[] = [];

function asPostgres(program: string, args: string[]): string {
  const command = isRoot ? 'runuser' : program;
  const all = isRoot ? ['-u', 'postgres', '--', program, ...args] : args;
  return execFileSync(command, all, {
    cwd: '/',
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

const own = (path: string) => isRoot && execFileSync('chown', ['-R', 'postgres:', path]);

/** A data folder that no server has used. A copy takes a tenth of the CPU time of initdb. */
let initialised = '';

async function initialise(bin: string): Promise<string> {
  // The tests of another file have removed theirs.
  if (existsSync(initialised)) return initialised;
  const folder = await makeFolder();
  own(folder);
  initialised = join(folder, 'main');
  const options = ['-U', 'postgres', '-A', 'trust', '-N', '-E', 'UTF8', '--locale=C.UTF-8'];
  asPostgres(join(bin, 'initdb'), ['-D', initialised, ...options]);
  return initialised;
}

/** Creates the data folder. @param isDebian whether the configuration is outside of it, and Debian's programs start the server */
export async function createCluster(isDebian: boolean): Promise<Cluster> {
  const bin = DEBIAN ?? '';
  const [folder, port] = [await makeFolder(), await freePort()];
  const version = dirname(bin).split('/').pop() ?? '';
  const [data, etc] = [join(folder, 'data', 'main'), join(folder, 'etc', version, 'main')];
  for (const each of [join(folder, 'data'), join(folder, 'backup', 'archive'), etc])
    mkdirSync(each, { recursive: true });
  execFileSync('cp', ['-a', await initialise(bin), data]);
  const config = isDebian ? etc : data;
  const files = ['postgresql.conf', 'pg_hba.conf', 'pg_ident.conf'];
  if (isDebian) for (const file of files) renameSync(join(data, file), join(etc, file));
  const places = `data_directory = '${data}'\nhba_file = '${etc}/pg_hba.conf'\nident_file = '${etc}/pg_ident.conf'\nexternal_pid_file = '${folder}/main.pid'\n`;
  appendFileSync(
    join(config, 'postgresql.conf'),
    `port = ${port}\nunix_socket_directories = '${folder}'\n${isDebian ? places : ''}${archiveSettings(join(folder, 'backup', 'archive'))}`,
  );
  if (isDebian) {
    // pg_ctlcluster writes the log there.
    writeFileSync(join(folder, 'log'), '');
    execFileSync('ln', ['-s', join(folder, 'log'), join(etc, 'log')]);
  }
  own(folder);
  const paths = `DATA=${data} CONFIG=${config} BIN=${bin} BACKUP=${folder}/backup ARCHIVE=${folder}/backup/archive`;
  const tools = isDebian
    ? blockOf('values').replaceAll('pg_ctlcluster 15', `pg_ctlcluster ${version}`)
    : blockOf('values-initdb');
  const names = `${tools}\n${paths}\nSUPERUSER_URL=postgres://postgres@127.0.0.1:${port}/postgres DEPLOY=${projectRoot}/deploy
${isRoot ? '' : 'as_postgres() { (cd / && "$@"); }\n'}`;
  const cluster = { folder, data, config, port, names, env: { PG_CLUSTER_CONF_ROOT: join(folder, 'etc') } };
  clusters.push(cluster);
  return cluster;
}

export const urlOf = ({ port }: Cluster) => `postgres://postgres@127.0.0.1:${port}/postgres`;

export const sql = (cluster: Cluster, text: string, url = urlOf(cluster)): string =>
  execFileSync('psql', ['-X', '-At', '-v', 'ON_ERROR_STOP=1', url, '-c', text], { encoding: 'utf8' }).trim();

const pidOf = ({ data }: Cluster) =>
  Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Kills the server, as a loss of power does. */
export async function kill(cluster: Cluster): Promise<void> {
  const pid = pidOf(cluster);
  const children = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);
  process.kill(pid, 'SIGKILL');
  await until(async () => ![pid, ...children].some(isAlive));
}

/** Writes numbers of parcels, of which the first ones are archived. */
export async function work(cluster: Cluster, from: number, to: number): Promise<void> {
  const add = (first: number, last: number) =>
    sql(cluster, `insert into parcels select n, clock_timestamp() from generate_series(${first}, ${last}) n`);
  const middle = Math.floor((from + to) / 2);
  add(from, middle);
  const file = sql(cluster, 'select pg_walfile_name(pg_switch_wal())');
  add(middle + 1, to);
  await until(async () => existsSync(join(cluster.folder, 'backup', 'archive', file)));
}

export const parcels = (cluster: Cluster) =>
  sql(cluster, "select count(*) || ' ' || coalesce(max(n), 0) from parcels");

export const recoverBlock = (time: string, base = '') =>
  blockOf('recover')
    .replace(/UNTIL='[^']*'/, `UNTIL='${time}'`)
    .replace('"$BACKUP/base"', base ? `"${base}"` : '"$BACKUP/base"');

/** Pastes a block and expects that it ends with OK. */
export function expectOk(terminal: Terminal, text: string): string {
  const printed = terminal.paste(text);
  expect([printed, printed.split('\n').at(-1)]).toEqual([printed, expect.stringMatching(/^OK: /)]);
  return printed;
}

/** Pastes a block and expects that it ends with FAILED, after a line that says why. */
export function expectFailed(terminal: Terminal, text: string, reason: RegExp): void {
  const printed = terminal.paste(text);
  expect([printed, printed.split('\n').at(-1)]).toEqual([
    expect.stringMatching(reason),
    expect.stringMatching(/^FAILED: /),
  ]);
}

/** Puts the server aside that was killed, as in a new terminal. Returns its pg_wal. */
export function putAside(terminal: Terminal): string {
  const printed = expectOk(
    terminal,
    `rm -f "$DATA/restore.unfinished"; unset LOST REMAINDER\n${blockOf('put-aside')}`,
  );
  const [, remainder = ''] = /REMAINDER=(\S+)/.exec(printed) ?? [];
  expect(remainder).toMatch(/main\.lost-\w+\/pg_wal$/);
  return remainder;
}

/** Waits until this second is over. A base backup states its times without fractions, and is restored to none of its last second. */
export async function nextSecond(): Promise<void> {
  const begun = Math.floor(Date.now() / 1000);
  await until(async () => Math.floor(Date.now() / 1000) > begun);
}

/** The folder of the recovered server does not exist before it is complete. */
export const expectNothing = ({ data }: Cluster) => expect(existsSync(data)).toBe(false);

/** Ends all servers that run in folders of the clusters. */
export async function stopClusters(): Promise<void> {
  for (const { data } of clusters.splice(0))
    for (const folder of readdirSync(dirname(data))) {
      const file = join(dirname(data), folder, 'postmaster.pid');
      const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0;
      if (pid > 0 && isAlive(pid)) {
        process.kill(pid, 'SIGINT');
        await until(async () => !isAlive(pid));
      }
    }
}
