import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { openSecrets } from '../platform/access/secrets.js';
import type { Config } from '../config/config.js';
import { openDb } from '../platform/db/open-database.js';
import { createPool, type Connection } from '../platform/db/connections/pool.js';
import { makeMailer } from '../platform/mail/transport.js';
import type { Metrics } from '../platform/metrics/metrics.js';
import { makeOutboundClient } from '../platform/outbound/client.js';
import { runQueue } from '../platform/queue/runner.js';
import { makeTasks } from './tasks.js';

export type BackgroundOptions = {
  config: Config;
  connection: Connection;
  /** The queue's own, past a pooler: it listens, which is a session's affair. */
  queueConnection: Connection;
  log: FastifyBaseLogger;
  /** Told of what is done, and shown the connections. */
  metrics?: Metrics | undefined;
};

export type Background = {
  /**
   * Begins nothing more, and answers when what was begun has ended or `withinMs` are over. A second before, requests to
   * couriers are cut. Jobs that run even after that stay locked until this process ends.
   */
  stop(withinMs: number): Promise<void>;
};

/** How long tasks whose requests were cut may take to end. */
const ABORT_GRACE_MS = 1_000;

/** How long the statements of tasks that are cut may hold the pools open. */
const CLOSE_POOLS_MS = 500;

/** For the queue's own statements: fetching, settling, listening, signs of life. */
const QUEUE_CONNECTIONS = 4;

// the library tells of each job that has ended well, and counts our few connections against its concurrency
const LOG_LEVELS = { error: 'error', warning: 'info', info: 'debug', debug: 'trace' } as const;

/**
 * Everything that the worker is made of: it does what requests have queued. It has connections of its own, so that work
 * in the background never makes a request wait for one.
 */
export function startBackground(options: BackgroundOptions): Background {
  const { config, connection, queueConnection, log, metrics } = options;
  const db = openDb({ ...connection, size: config.poolSize });
  const queuePool = createPool({ ...queueConnection, size: QUEUE_CONNECTIONS, isPipelined: false });
  metrics?.watchPool('worker', db.pool);
  metrics?.watchPool('queue', queuePool);
  const outbound = makeOutboundClient(config.outbound);
  const stopping = new AbortController();
  const tasks = makeTasks({
    db,
    secrets: openSecrets(config.secrets),
    config,
    outbound,
    mailer: makeMailer(config.mail),
    log,
    stopping: stopping.signal,
    metrics,
  });
  const queue = runQueue({
    pg: queuePool,
    tasks,
    concurrency: config.worker.concurrency,
    heartbeatSeconds: config.worker.heartbeatSeconds,
    log: ({ level, text }) => log[LOG_LEVELS[level]](text),
  });
  return {
    async stop(withinMs) {
      stopping.abort();
      const isQuiet = await queue.stop(Math.max(0, withinMs - ABORT_GRACE_MS));
      // cuts what a receiver has not answered yet
      await outbound.destroy();
      // jobs that still run need the pools: to end, and to say that this process lives
      if (!isQuiet && !(await queue.stop(ABORT_GRACE_MS))) return;
      await Promise.race([Promise.allSettled([db.close(), queuePool.end()]), sleep(CLOSE_POOLS_MS)]);
    },
  };
}
