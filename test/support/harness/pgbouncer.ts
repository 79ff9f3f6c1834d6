import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort, makeFolder, until } from '../service/processes.js';

/** A real pgbouncer in front of a test database. */
export type Pooler = {
  /** The same connection through the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
};

/** The path of pgbouncer, or undefined if it is not installed and its tests cannot run. */
export const PGBOUNCER = [
  ...(process.env['PATH'] ?? '').split(':').map((folder) => join(folder, 'pgbouncer')),
  '/usr/sbin/pgbouncer',
].find((path) => existsSync(path));

/**
 * Starts pgbouncer with few connections to the server, so that clients share them.
 *
 * @param logins a URL for each login that it accepts
 */
export async function startPooler(
  logins: string[],
  { mode = 'transaction', size = 4 }: { mode?: 'transaction' | 'session' | 'statement'; size?: number } = {},
): Promise<Pooler> {
  if (!PGBOUNCER) throw new Error('pgbouncer is not installed.');
  const folder = await makeFolder();
  const port = await freePort();
  const server = new URL(logins[0] ?? '');
  const config = join(folder, 'pgbouncer.ini');
  const users = logins.map((login) => new URL(login));
  const lines = users.map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"`);
  await writeFile(join(folder, 'users.txt'), `${lines.join('\n')}\n`);
  // Without ignore_startup_parameters, because the service must not need it.
  await writeFile(
    config,
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 500
`,
  );
  for (const name of ['users.txt', 'pgbouncer.ini']) await chmod(join(folder, name), 0o644);
  const child = spawn(PGBOUNCER, [config], { stdio: ['ignore', 'ignore', 'pipe'], ...unprivilegedAccount() });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close');
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended instead:\n${output}`);
    return accepts(port);
  });
  return {
    through: (url) => Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    async stop() {
      // SIGTERM is pgbouncer's immediate shutdown.
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns an unprivileged account, because pgbouncer refuses to run as root. */
function unprivilegedAccount(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (!uid || !gid) throw new Error('pgbouncer refuses to run as root, and /etc/passwd has no nobody.');
  return { uid: Number(uid), gid: Number(gid) };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
