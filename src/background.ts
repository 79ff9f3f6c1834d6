import type { FastifyBaseLogger } from 'fastify';
import { openSecrets } from './auth/secrets.js';
import type { Config } from './config.js';
import { openDb } from './db/open.js';
import { createPool, type PoolOptions } from './db/pool.js';
import { makeMailer } from './mail/transport.js';
import { makeOutboundClient } from './outbound/client.js';
import { runQueue } from './queue/runner.js';
import { makeTasks } from './tasks.js';

export type BackgroundOptions = {
  config: Config;
  database: Pick<PoolOptions, 'url' | 'assumeRole'>;
  log: FastifyBaseLogger;
};

export type Background = {
  /** Begins nothing more, and answers when what was begun has ended or `withinMs` are over. */
  stop(withinMs: number): Promise<void>;
};

/** For the queue's own statements: fetching, settling, listening, signs of life. */
const QUEUE_CONNECTIONS = 4;

// the library tells of each job that has ended well, and counts our few connections against its concurrency
const LOG_LEVELS = { error: 'error', warning: 'info', info: 'debug', debug: 'trace' } as const;

/**
 * Everything that the worker is made of: it does what requests have queued. It has connections of its own, so that work
 * in the background never makes a request wait for one.
 */
export function startBackground({ config, database, log }: BackgroundOptions): Background {
  const onError = (error: Error) => log.warn({ err: error }, 'a database connection broke');
  const db = openDb({ ...database, size: config.poolSize, onError });
  const queuePool = createPool({ ...database, size: QUEUE_CONNECTIONS, onError, isPipelined: false });
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
      await queue.stop(withinMs);
      await Promise.allSettled([outbound.close(), db.close(), queuePool.end()]);
    },
  };
}
