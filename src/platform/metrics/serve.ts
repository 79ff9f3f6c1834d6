import { openProbe, type PoolOptions } from '../db/connections/pool.js';
import { makeBacklogReader } from './backlog.js';
import { listenForScrapes, type Listener } from './listen.js';
import { makeMetrics, type Metrics } from './metrics.js';

export type ServedMetrics = Metrics & Listener;

/**
 * Serves a process's metrics until they are closed.
 *
 * @param connection the application's connection; the metrics open a separate one of the same kind
 * @throws ConfigError if it cannot listen on the address
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
