import type { Jobs } from '../../../platform/queue/jobs.js';
import { composeMail } from './compose.js';
import { sendMail, type MailDeps } from '../delivery/send-mail.js';

export { MAX_ATTEMPTS, type MailDeps } from '../delivery/send-mail.js';

/**
 * Sends a queued mail to the address of the courier's profile: of the status that it was queued for, with what the
 * courier has aboard now.
 *
 * @throws Error when it is to be tried again
 */
export const sendManifestMail = (deps: MailDeps, job: Jobs['sendManifestMail']): Promise<void> =>
  sendMail(deps, { table: 'manifest_mails', label: 'manifest mail', compose: composeMail }, job);
