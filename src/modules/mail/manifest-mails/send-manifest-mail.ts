import type { Jobs } from '../../../platform/queue/jobs.js';
import { sendMail, type MailDeps, type Mail } from '../delivery/send-mail.js';
import { isAddress } from '../../../platform/mail/address.js';
import type { Message } from '../../../platform/mail/mime.js';
import { toLetter } from './letter.js';
import { selectCargo, selectMailData, selectTotals } from './queries.js';
import { render } from './render.js';

export { MAX_ATTEMPTS, type MailDeps } from '../delivery/send-mail.js';

/**
 * Sends a queued mail to the address of the courier's profile. It announces the status for which it was
 * queued, with the courier's current packages on the manifest.
 * @throws Error to be retried
 */
export const sendManifestMail = (deps: MailDeps, job: Jobs['sendManifestMail']): Promise<void> =>
  sendMail(deps, { table: 'manifest_mails', label: 'manifest mail', compose: composeMail }, job);

/** The maximum number of listed packages. The mail states how many more there are. */
export const MAX_LISTED = 500;

/** Returns the current message, or the reason for not sending one. */
async function composeMail({ ctx, id }: Mail): Promise<Message | { skipped: string }> {
  const [[mail], cargo, [totals]] = await ctx.read([
    selectMailData(ctx, id),
    selectCargo(ctx, id, MAX_LISTED),
    selectTotals(ctx, id),
  ]);
  if (!mail?.manifestId) return { skipped: 'the manifest no longer exists' };
  if (!mail.isCourierActive) return { skipped: 'the courier is not active' };
  if (!mail.courierEmail) return { skipped: 'the courier has no e-mail address' };
  if (!isAddress(mail.courierEmail)) return { skipped: 'the courier has no usable e-mail address' };
  if (!totals?.count) return { skipped: 'the courier has no package aboard any more' };

  const now = new Date();
  const letter = toLetter({ ...mail, manifestId: mail.manifestId }, { cargo, totals }, now);
  return {
    id,
    senderName: letter.tenantName,
    recipient: { name: letter.greeting, address: mail.courierEmail },
    date: now,
    ...render(letter),
  };
}
