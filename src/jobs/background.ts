import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { openSecrets } from '../platform/access/secrets.js';
import type { Config } from '../config/config.js';
import { openDb } from '../platform/db/open-database.js';
import { createPool, type Connection } from '../platform/db/connections/pool.js';
import { inspectSes } from '../platform/mail/ses.js';
import { makeMailer } from '../platform/mail/transport.js';
import type { Metrics } from '../platform/metrics/metrics.js';
import { makeThreadedClient } from '../platform/outbound/threaded-client.js';
import { QUEUE_CONNECTIONS, runQueue } from '../platform/queue/runner.js';
import type { Tracer } from '../platform/tracing/span.js';
import { makeTasks } from './tasks.js';

export type BackgroundOptions = {
  config: Config;
  connection: Connection;
  /** The queue's connection, which must bypass a pooler because LISTEN needs a session. */
  queueConnection: Connection;
  log: FastifyBaseLogger;
  /** Receives the outcomes of tasks and the connection pools. */
  metrics?: Metrics | undefined;
  /** Traces jobs. */
  tracer?: Tracer | undefined;
};

export type Background = ReturnType<typeof startBackground>;

/** How long tasks may take to end after their requests were aborted. */
const ABORT_GRACE_MS = 1_000;

/** How long statements of aborted tasks may delay closing the pools. */
const CLOSE_POOLS_MS = 500;

// The library logs each successful job as info, and warns because the pool is smaller than its concurrency.
const LOG_LEVELS = { error: 'error', warning: 'info', info: 'debug', debug: 'trace' } as const;

const restrictionsOf = ({ mail, outbound }: Config) => ({
  mailTo: mail.recipients?.otherwiseTo,
  mailDomains: mail.recipients?.domains,
  hosts: outbound.hosts,
});

/** Without a key, the AWS SDK looks for a role. If it finds none, mail waits until somebody reads the log. */
async function warnWithoutCredentials({ mail }: Config, log: FastifyBaseLogger): Promise<void> {
  if (!mail.ses || mail.ses.credentials) return;
  const reason = await inspectSes(mail.ses).then(
    ({ missing }) => missing,
    (error: unknown) => String(error),
  );
  if (reason === undefined) return;
  const advice = 'Provide AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role of the machine or the pod.';
  log.warn({ reason }, `There are no credentials for Amazon SES, so mail waits. ${advice}`);
}

/** Starts the worker, which runs queued jobs. It has its own connection pool, so that jobs never delay requests. */
export function startBackground(options: BackgroundOptions) {
  const { config, connection, queueConnection, log, metrics, tracer } = options;
  const db = openDb({ ...connection, size: config.worker.poolSize });
  const queuePool = createPool({ ...queueConnection, size: QUEUE_CONNECTIONS, isPipelined: false });
  metrics?.watchPool('worker', db);
  metrics?.watchPool('queue', { pool: queuePool });
  const outbound = makeThreadedClient(config.outbound, (err) =>
    log.error({ err }, "the thread of the requests to couriers' URLs has failed, and goes on"),
  );
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
    tracer,
  });
  if (config.appEnv === 'staging') log.info(restrictionsOf(config), 'staging mails and calls only these');
  void warnWithoutCredentials(config, log);
  const queue = runQueue({
    pg: queuePool,
    tasks,
    concurrency: config.worker.concurrency,
    heartbeatSeconds: config.worker.heartbeatSeconds,
    log: ({ level, text }) => log[LOG_LEVELS[level]](text),
  });
  return {
    /**
     * Starts no more jobs and waits at most `withinMs` for the running ones. One second before the end, requests to couriers are
     * aborted. Jobs that still run stay locked until this process ends.
     */
    async stop(withinMs: number): Promise<void> {
      stopping.abort();
      const isQuiet = await queue.stop(Math.max(0, withinMs - ABORT_GRACE_MS));
      // Aborts requests to couriers that have not responded yet.
      await outbound.destroy();
      // Jobs that still run need the pools for their statements and for the heartbeat.
      if (!isQuiet && !(await queue.stop(ABORT_GRACE_MS))) return;
      await Promise.race([Promise.allSettled([db.close(), queuePool.end()]), sleep(CLOSE_POOLS_MS)]);
    },
  };
}
