import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config/config.js';
import type { Metrics } from '../platform/metrics/metrics.js';
import { findLostProtections } from './safe-database.js';

const HOUR_MS = 60 * 60_000;

export type WatchOptions = {
  config: Pick<Config, 'appEnv'>;
  /** The connection that the service uses. */
  url: string;
  log: Pick<FastifyBaseLogger, 'error' | 'warn'>;
  metrics?: Pick<Metrics, 'protectionFaults'> | undefined;
  intervalMs?: number;
};

/**
 * Compares the protections of the database with those of the migrations now and each hour, as a start does. A start refuses a database
 * without them; a process that serves continues, so it reports them in its log and in the metrics. Development compares nothing.
 *
 * @returns stops it
 */
export function watchProtections({
  config,
  url,
  log,
  metrics,
  intervalMs = HOUR_MS,
}: WatchOptions): () => void {
  if (config.appEnv === 'development') return () => undefined;
  const compare = async () => {
    const faults = await findLostProtections(url);
    metrics?.protectionFaults(faults.length);
    if (faults.length > 0)
      log.error({ faults: faults.length }, `the database has lost protections: ${faults.join(' ')}`);
  };
  const run = () => {
    compare().catch((err: unknown) =>
      log.warn({ err }, 'the protections of the database could not be examined'),
    );
  };
  run();
  const timer = setInterval(run, intervalMs).unref();
  return () => clearInterval(timer);
}
