import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config/config.js';
import type { Secrets } from '../access/secrets.js';
import type { Db } from '../db/database.js';
import type { Mailer } from '../mail/send-result.js';
import type { OutboundMetrics } from '../metrics/outbound.js';
import type { OutboundSender } from '../outbound/client.js';
import type { Span, Tracer } from '../tracing/span.js';

/** The dependencies of the worker's tasks. */
export type TaskDeps = {
  db: Db;
  secrets: Secrets;
  config: Config;
  outbound: OutboundSender;
  mailer: Mailer;
  log: FastifyBaseLogger;
  /** Aborted when the worker stops: tasks finish the current item and start no new one. */
  stopping: AbortSignal;
  metrics: OutboundMetrics | undefined;
  /** Undefined without tracing. */
  tracer: Tracer | undefined;
  /** The job's span, if it is traced. */
  span?: Span | undefined;
};
