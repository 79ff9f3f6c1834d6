import type { Secrets } from '../../../platform/access/secrets.js';
import type { Jobs } from '../../../platform/queue/jobs.js';
import { isOver, toAccountLetter, renderAccountLetter } from './letter.js';
import { isAddress } from '../../../platform/mail/address.js';
import type { Message } from '../../../platform/mail/mime.js';
import { selectAccountMail } from './queries.js';
import { sendMail, type Mail, type MailDeps } from '../delivery/send-mail.js';

export type AccountMailDeps = MailDeps & {
  secrets: Secrets;
  /** The page on which a user chooses a new password. If undefined, the mail contains only the token. */
  passwordResetUrl: string | undefined;
};

/**
 * Sends a queued mail about a user's account.
 * @throws Error to be retried
 */
export const sendAccountMail = (deps: AccountMailDeps, job: Jobs['sendAccountMail']): Promise<void> =>
  sendMail(
    deps,
    { table: 'account_mails', label: 'account mail', compose: (mail) => compose(deps, mail) },
    job,
  );

async function compose(
  { secrets, passwordResetUrl }: AccountMailDeps,
  mail: Mail,
): Promise<Message | { skipped: string }> {
  const { ctx, id } = mail;
  const [[row]] = await ctx.read([selectAccountMail(ctx, id)]);
  if (!row) return { skipped: 'the user no longer exists' };
  if (!isAddress(row.recipient)) return { skipped: 'the user has no usable e-mail address' };
  if (row.kind === 'password_reset_link' && row.isStale) return { skipped: 'the reset token has expired' };
  if (row.isMoved) return { skipped: 'the user belongs to another courier' };
  if (isOver(row)) return { skipped: 'the URL accepts deliveries again' };
  const secret =
    row.secretCipher === null
      ? undefined
      : secrets.decrypt(row.secretCipher, { tenantId: ctx.tenantId, rowId: id, field: 'mail_secret' });
  const letter = toAccountLetter(row, linkOf(passwordResetUrl, row.tenantSlug, secret), secret);
  return {
    id,
    senderName: letter.tenantName,
    recipient: { name: '', address: row.recipient },
    date: new Date(),
    ...renderAccountLetter(letter),
  };
}

/** Returns the operator's page with tenant and token inserted. Both consist of URL-safe characters. */
function linkOf(template: string | undefined, slug: string, token: string | undefined): string | undefined {
  if (template === undefined || token === undefined) return undefined;
  return template.replaceAll('{tenant}', slug).replaceAll('{token}', token);
}
