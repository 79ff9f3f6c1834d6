import type { Jobs } from '../../../platform/queue/jobs.js';
import { composeMail } from './compose.js';
import { sendMail, type MailDeps } from '../delivery/send-mail.js';

export { MAX_ATTEMPTS, type MailDeps } from '../delivery/send-mail.js';

/**
 * Sends a queued mail to the address of the courier's profile. It announces the status for which it was
 * queued, with the courier's current packages on the manifest.
 * @throws Error to be retried
 */
export const sendManifestMail = (deps: MailDeps, job: Jobs['sendManifestMail']): Promise<void> =>
  sendMail(deps, { table: 'manifest_mails', label: 'manifest mail', compose: composeMail }, job);
