import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../../src/config/project-root.js';
import { freePort, startReplica, type Replica } from '../service/processes.js';

export type WatchedReplica = {
  replica: Replica;
  /** Returns the longest time in milliseconds that the service's event loop was held since the last call. */
  takeHeldMs: () => Promise<number>;
};

/** Starts a service in a process of its own: the validation of responses in tests would hold the same event loop. */
export async function startWatchedReplica(databaseUrl: string): Promise<WatchedReplica> {
  const port = String(await freePort());
  const replica = await startReplica({
    DATABASE_URL: databaseUrl,
    RUN_WORKER: 'false',
    API_PROCESSES: '1',
    LOOP_WATCH_PORT: port,
    NODE_OPTIONS: `--import ${pathToFileURL(join(projectRoot, 'test/support/harness/loop-watch.mjs')).href}`,
  });
  const takeHeldMs = async () => Number(await (await fetch(`http://127.0.0.1:${port}`)).text());
  return { replica, takeHeldMs };
}
