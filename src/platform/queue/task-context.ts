import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../../config/config.js';
import type { Secrets } from '../access/secrets.js';
import type { Db } from '../db/transaction.js';
import type { Mailer } from '../mail/transport.js';
import type { OutboundMetrics } from '../metrics/outbound.js';
import type { OutboundClient } from '../outbound/client.js';

/** What a worker's tasks need. */
export type TaskDeps = {
  db: Db;
  secrets: Secrets;
  config: Config;
  outbound: OutboundClient;
  mailer: Mailer;
  log: FastifyBaseLogger;
  /** Aborted when the worker is to end: finish what is begun, begin nothing. */
  stopping: AbortSignal;
  metrics: OutboundMetrics | undefined;
};
