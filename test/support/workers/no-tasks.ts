import type { Tasks } from '../../../src/platform/queue/runner.js';

const noop = async () => undefined;

/** Tasks that do nothing. */
export const NO_TASKS: Tasks = {
  deliver: noop,
  sendPending: noop,
  sendManifestMail: noop,
  sendAccountMail: noop,
  sendBillMail: noop,
  sendNoticeMail: noop,
  tellCustomers: noop,
  preparePasswordReset: noop,
  tellCourierOwners: noop,
  checkIntegration: noop,
  syncCustomers: noop,
  scheduleCustomerSyncs: noop,
  reportOverdueBills: noop,
  reportMissingPrealerts: noop,
  playSandbox: noop,
  playSandboxes: noop,
  sweep: noop,
  tellOwnersOfFailures: noop,
  sealAuditLog: noop,
  runBackgroundMigrations: noop,
  prune: noop,
};
