import { isAddress, type Message } from '../../../platform/mail/mime.js';
import type { Mail } from '../delivery/send-mail.js';
import { toLetter } from './letter.js';
import { selectCargo, selectMailData, selectTotals } from './queries.js';
import { render } from './render.js';

/** The maximum number of listed packages. The mail states how many more there are. */
export const MAX_LISTED = 500;

/** Returns the current message, or the reason for not sending one. */
export async function composeMail({ ctx, id }: Mail): Promise<Message | { skipped: string }> {
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
