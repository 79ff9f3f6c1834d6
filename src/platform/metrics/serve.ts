import { openProbe, type PoolOptions } from '../db/connections/pool.js';
import { makeBacklogReader } from './backlog.js';
import { listenForScrapes, type Listener } from './listen.js';
import { makeMetrics, type Metrics } from './metrics.js';

export type ServedMetrics = Metrics & Listener;

/**
 * Makes a process's metrics, and serves them until they are closed.
 *
 * @param connection the application's; one more of its kind is opened
 * @throws ConfigError when the address cannot be listened on
 */
export async function serveMetrics(
  address: { host: string; port: number },
  connection: Omit<PoolOptions, 'size'>,
): Promise<ServedMetrics> {
  const probe = openProbe(connection);
  const metrics = makeMetrics(makeBacklogReader(probe));
  const listener = await listenForScrapes(address, metrics);
  return {
    ...metrics,
    ...listener,
    async close() {
      await listener.close();
      await probe.end();
    },
  };
}
