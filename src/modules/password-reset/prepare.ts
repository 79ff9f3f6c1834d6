import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../platform/access/secrets.js';
import { BACKGROUND } from '../../platform/audit/audit.js';
import { makeContext } from '../../platform/context/request-context.js';
import type { Db } from '../../platform/db/database.js';
import { lockResetMails } from '../../platform/db/locks.js';
import { queueAccountMail } from '../mail/public.js';
import type { Jobs } from '../../platform/queue/jobs.js';
import { findRecipient, lockNamedUser, lockRequest, storeToken } from './queries.js';

const TOKEN_BYTES = 32;

/**
 * Creates the token of a request and queues its mail. Deletes the request if no such user has an e-mail
 * address, or above the limits of such mails; then older tokens remain valid. It is one transaction, so a repeated job finds the request already processed.
 */
export async function preparePasswordReset(
  { db, secrets }: { db: Db; secrets: Secrets },
  { tenantId, resetId }: Jobs['preparePasswordReset'],
): Promise<void> {
  const ctx = makeContext(db, { kind: 'system', tenantId }, BACKGROUND);
  await ctx.write(async (tx) => {
    const [request] = await tx.query(lockRequest(ctx, resetId));
    if (!request) return;
    const [, [user] = []] = request.isStale
      ? []
      : await tx.query([lockNamedUser(ctx, request.username), findRecipient(ctx, request.username)]);
    const requests = tx.models.passwordReset;
    if (!user) {
      await requests.deleteMany({ where: { id: resetId } });
      return;
    }
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    // Last of the locks, so that requests for other users see this mail when they count.
    await tx.query(lockResetMails(tenantId));
    const mail = { userId: user.id, kind: 'password_reset_link' } as const;
    const isQueued = await queueAccountMail(tx, mail, (mailId) =>
      secrets.encrypt(token, { tenantId, rowId: mailId, field: 'mail_secret' }),
    );
    if (!isQueued) {
      await requests.deleteMany({ where: { id: resetId } });
      return;
    }
    // Invalidates older tokens of the user.
    await requests.deleteMany({ where: { userId: user.id, id: { not: resetId } } });
    const hash = secrets.lookupHash(token, 'password_reset');
    await tx.count(storeToken(ctx, resetId, user, hash));
  });
}
