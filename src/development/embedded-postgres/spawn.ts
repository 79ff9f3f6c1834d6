import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { environmentOfPrograms } from '../../config/environments.js';
import type { Account, Location } from './location.js';
import { replaceStalePid, readIfPresent } from './process.js';

export async function spawnPostgres(
  { home, cluster, account }: Location,
  postgres: string,
  settings: Record<string, string>,
  logFile: string,
): Promise<ChildProcess> {
  await replaceStalePid(cluster);
  if (await readIfPresent(logFile)) await rename(logFile, `${logFile}.1`);
  const log = await open(logFile, 'a', 0o600);
  try {
    // Our settings come last, because the last value of a repeated setting applies.
    const all = {
      ...settings,
      listen_addresses: '127.0.0.1',
      port: String(await freePort()),
      unix_socket_directories: '',
    };
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    // Detached, because Ctrl-C signals the whole process group and we stop PostgreSQL only after the open requests.
    const stdio: ['ignore', number, number] = ['ignore', log.fd, log.fd];
    const child = spawn(postgres, ['-D', cluster, ...args], {
      ...runAs(account, home),
      detached: true,
      stdio,
    });
    child.unref();
    await once(child, 'spawn').catch((cause: unknown) => Promise.reject(cannotRun(postgres, cause)));
    return child;
  } finally {
    await log.close();
  }
}

export function runAs(account: Account, cwd: string) {
  return { ...account, cwd, env: { ...environmentOfPrograms(), LC_ALL: 'C' } };
}

export function cannotRun(program: string, cause: unknown): Error {
  const reason = cause instanceof Object && 'stderr' in cause && cause.stderr ? cause.stderr : cause;
  const line = String(reason)
    .trim()
    .replaceAll(/\s*\n\s*/g, ' | ');
  return new Error(
    `Cannot run ${program} (${line}). Set DATABASE_URL to a server with PostgreSQL 15 or later instead.`,
    {
      cause,
    },
  );
}

/** Returns if another program took the chosen port, so that the caller can retry. @throws Error with the end of the log otherwise */
export async function throwUnlessPortTaken(logFile: string): Promise<void> {
  const end = await tail(logFile);
  if (!end.includes('could not bind')) throw new Error(`PostgreSQL did not start. Its log ends:\n${end}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return address.port;
}

export async function tail(file: string): Promise<string> {
  return (await readIfPresent(file)).trimEnd().split('\n').slice(-15).join('\n');
}
