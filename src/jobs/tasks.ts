import type { FastifyBaseLogger } from 'fastify';
import { sealAll } from '../modules/audit-log/append-to-chain.js';
import type { Secrets } from '../platform/access/secrets.js';
import type { Config } from '../config/config.js';
import type { Db } from '../platform/db/transaction.js';
import { sendAccountMail } from '../modules/mail/account-mails/send-account-mail.js';
import { sendManifestMail } from '../modules/mail/manifest-mails/send-manifest-mail.js';
import type { Mailer } from '../platform/mail/transport.js';
import type { OutboundMetrics } from '../platform/metrics/outbound.js';
import type { OutboundClient } from '../platform/outbound/client.js';
import { preparePasswordReset } from '../modules/password-reset/prepare.js';
import { scheduleCustomerSyncs } from '../modules/customers/sync/sync-run.js';
import { makeCustomerSync } from '../modules/customers/sync/sync.js';
import type { Tasks } from '../platform/queue/runner.js';
import { prune } from './retention.js';
import { deliver } from '../modules/webhooks/delivery/deliver.js';
import { sweep } from './requeue.js';

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
