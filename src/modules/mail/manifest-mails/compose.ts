import { snapshot } from '../../../platform/db/transaction.js';
import { toLetter } from './letter.js';
import { isAddress, type Message } from '../../../platform/mail/mime.js';
import {
  selectCargo,
  selectMailData,
  selectTotals,
  type CargoRow,
  type MailDataRow,
  type TotalsRow,
} from './queries.js';
import { render } from './render.js';
import type { Mail } from '../delivery/send-mail.js';

/** The maximum number of listed packages. The mail states how many more there are. */
export const MAX_LISTED = 500;

/** Returns the current message, or the reason for not sending one. */
export async function composeMail(mail: Mail): Promise<Message | { skipped: string }> {
  const { news, cargo, totals } = await readMailData(mail);
  if (!news?.manifest_id) return { skipped: 'the manifest is no longer there' };
  if (!news.courier_is_active) return { skipped: 'the courier is not active' };
  if (!news.courier_email) return { skipped: 'the courier has no e-mail address' };
  if (!isAddress(news.courier_email)) return { skipped: 'the courier has no usable e-mail address' };
  if (!totals?.count) return { skipped: 'the courier has no package aboard any more' };

  const now = new Date();
  const letter = toLetter({ ...news, manifest_id: news.manifest_id }, { cargo, totals }, now);
  return {
    id: mail.id,
    senderName: letter.tenantName,
    recipient: { name: letter.greeting, address: news.courier_email },
    date: now,
    ...render(letter),
  };
}

async function readMailData(mail: Mail) {
  const [news, cargo, totals] = await snapshot(mail.db, mail.caller, [
    selectMailData(mail, mail.id),
    selectCargo(mail, mail.id, MAX_LISTED),
    selectTotals(mail, mail.id),
  ]);
  // The three statements select exactly these columns.
  return {
    news: news?.[0] as MailDataRow | undefined,
    cargo: cargo as CargoRow[],
    totals: totals?.[0] as TotalsRow | undefined,
  };
}
