import { appendAllToChains } from '../modules/audit-log/append-to-chain.js';
import { makeBillMailSender } from '../modules/bills/mails/send-bill-mail.js';
import { reportMissingPrealerts } from '../modules/prealerts/report-missing.js';
import { reportOverdueBills } from '../modules/bills/payment-terms/report-overdue.js';
import { tellCourierOwners } from '../modules/couriers/settings/tell-owners.js';
import { sendAccountMail } from '../modules/mail/account-mails/send-account-mail.js';
import { sendManifestMail } from '../modules/mail/manifest-mails/send-manifest-mail.js';
import { sendNoticeMail } from '../modules/notices/mails/send-notice-mail.js';
import { tellCustomers } from '../modules/notices/telling/tell-customers.js';
import { preparePasswordReset } from '../modules/password-reset/prepare.js';
import { scheduleCustomerSyncs } from '../modules/customers/sync/sync-run.js';
import { playSandbox, playSandboxes } from '../modules/sandboxes/lives/play.js';
import { makeIntegrationCheck } from '../modules/integration-checks/run-check.js';
import { makeCustomerSync } from '../modules/customers/sync/sync.js';
import { MIGRATIONS } from '../platform/db/migrations/migration-files.js';
import type { Tasks } from '../platform/queue/runner.js';
import type { TaskDeps } from '../platform/queue/task-context.js';
import { makeJobShare } from './job-share.js';
import { observeJobs } from './observe-jobs.js';
import { runBackgroundMigrations } from './background-migrations/run.js';
import { deleteExpired } from './retention.js';
import { deliver } from '../modules/webhooks/delivery/deliver.js';
import { sendPending } from '../modules/webhooks/delivery/send-pending.js';
import { tellOwnersOfFailures } from '../modules/webhooks/health/tell-owners.js';
import { requeue } from './requeue.js';
import { shareOfSlow } from './slow-deliveries.js';

/** How many of the worker's slots each kind of job uses at the same time. */
const sharesOf = (slots: number) => ({
  // Those of receivers that were slow: each holds a slot for up to 25 seconds.
  slowDeliveries: makeJobShare({ total: slots, perTenant: Math.ceil(slots / 2) }),
  mails: makeJobShare({ total: Math.ceil(slots / 4), perTenant: Math.ceil(slots / 8) }),
  // Each holds an invoice of up to 10,000 lines, and the writer has two threads.
  bills: makeJobShare({ total: 2, perTenant: 2 }),
  // Each waits up to a minute for a courier's system.
  checks: makeJobShare({ total: 4, perTenant: 2 }),
});

/** Returns the function for each kind of job. */
export function makeTasks(deps: TaskDeps): Tasks {
  const { slowDeliveries, mails, bills, checks } = sharesOf(deps.config.worker.concurrency);
  return {
    deliver: observeJobs(deps, 'deliver', shareOfSlow(slowDeliveries, deliver)),
    sendPending: observeJobs(deps, 'sendPending', sendPending),
    sendManifestMail: observeJobs(
      deps,
      'sendManifestMail',
      mails.within('sendManifestMail', sendManifestMail),
    ),
    sendAccountMail: observeJobs(
      deps,
      'sendAccountMail',
      mails.within('sendAccountMail', (own, mail) =>
        sendAccountMail({ ...own, passwordResetUrl: own.config.passwordResetUrl }, mail),
      ),
    ),
    sendBillMail: observeJobs(deps, 'sendBillMail', bills.within('sendBillMail', makeBillMailSender())),
    sendNoticeMail: observeJobs(
      deps,
      'sendNoticeMail',
      mails.within('sendNoticeMail', (own, mail) =>
        sendNoticeMail({ ...own, publicUrl: own.config.publicUrl }, mail),
      ),
    ),
    tellCustomers: observeJobs(deps, 'tellCustomers', tellCustomers),
    preparePasswordReset: observeJobs(deps, 'preparePasswordReset', preparePasswordReset),
    tellCourierOwners: observeJobs(deps, 'tellCourierOwners', tellCourierOwners),
    checkIntegration: observeJobs(
      deps,
      'checkIntegration',
      checks.within('checkIntegration', makeIntegrationCheck()),
    ),
    syncCustomers: observeJobs(deps, 'syncCustomers', makeCustomerSync(deps)),
    scheduleCustomerSyncs: observeJobs(deps, 'scheduleCustomerSyncs', scheduleCustomerSyncs),
    reportOverdueBills: observeJobs(deps, 'reportOverdueBills', reportOverdueBills),
    reportMissingPrealerts: observeJobs(deps, 'reportMissingPrealerts', reportMissingPrealerts),
    playSandbox: observeJobs(deps, 'playSandbox', playSandbox),
    playSandboxes: observeJobs(deps, 'playSandboxes', playSandboxes),
    sweep: observeJobs(deps, 'sweep', requeue),
    tellOwnersOfFailures: observeJobs(deps, 'tellOwnersOfFailures', tellOwnersOfFailures),
    sealAuditLog: observeJobs(deps, 'sealAuditLog', appendAllToChains),
    runBackgroundMigrations: observeJobs(deps, 'runBackgroundMigrations', (own) =>
      runBackgroundMigrations(own, MIGRATIONS),
    ),
    prune: observeJobs(deps, 'prune', deleteExpired),
  };
}
