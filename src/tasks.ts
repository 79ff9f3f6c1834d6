import type { FastifyBaseLogger } from 'fastify';
import { sealAll } from './audit-log/seal.js';
import type { Secrets } from './auth/secrets.js';
import type { Config } from './config.js';
import type { Db } from './db/transaction.js';
import { sendAccountMail } from './mail/send-account-mail.js';
import { sendManifestMail } from './mail/send-manifest-mail.js';
import type { Mailer } from './mail/transport.js';
import type { OutboundMetrics } from './metrics/outbound.js';
import type { OutboundClient } from './outbound/client.js';
import { preparePasswordReset } from './password-reset/prepare.js';
import { scheduleCustomerSyncs } from './customers/sync-run.js';
import { makeCustomerSync } from './customers/sync.js';
import type { Tasks } from './queue/runner.js';
import { prune } from './prune.js';
import { deliver } from './webhooks/deliver.js';
import { sweep } from './sweep.js';

/** What background work is made from. */
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

/** What is done for each kind of job. */
export function makeTasks(deps: TaskDeps): Tasks {
  return {
    deliver: (lane) => deliver(deps, lane),
    sendManifestMail: (mail) => sendManifestMail(deps, mail),
    sendAccountMail: (mail) =>
      sendAccountMail({ ...deps, passwordResetUrl: deps.config.passwordResetUrl }, mail),
    preparePasswordReset: (request) => preparePasswordReset(deps, request),
    syncCustomers: makeCustomerSync(deps),
    scheduleCustomerSyncs: () => scheduleCustomerSyncs(deps),
    sweep: () => sweep(deps),
    sealAuditLog: () => sealAll(deps),
    prune: () => prune(deps),
  };
}
