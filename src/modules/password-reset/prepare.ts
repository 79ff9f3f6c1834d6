import { randomBytes } from 'node:crypto';
import type { SystemCaller } from '../../platform/identity/callers.js';
import type { Secrets } from '../../platform/access/secrets.js';
import { transaction, type Db } from '../../platform/db/transaction.js';
import { queueAccountMail } from '../mail/public.js';
import type { Jobs } from '../../platform/queue/jobs.js';
import {
  deleteOlderRequests,
  deleteRequest,
  lockRecipient,
  lockRequest,
  storeToken,
  type RecipientRow,
  type RequestRow,
} from './queries.js';

const TOKEN_BYTES = 32;

/**
 * Creates the token of a request and queues its mail. Deletes the request if no such user has an e-mail
 * address. It is one transaction, so a repeated job finds the request already processed.
 */
export async function preparePasswordReset(
  { db, secrets }: { db: Db; secrets: Secrets },
  { tenantId, resetId }: Jobs['preparePasswordReset'],
): Promise<void> {
  const caller: SystemCaller = { kind: 'system', tenantId };
  await transaction(db, caller, async (tx) => {
    const [request] = await tx.query<RequestRow>(lockRequest(db, caller, resetId));
    if (!request) return;
    const [user] = request.is_stale
      ? []
      : await tx.query<RecipientRow>(lockRecipient(db, caller, request.username));
    if (!user) {
      await tx.execute(deleteRequest(db, caller, resetId));
      return;
    }
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    await tx.execute(deleteOlderRequests(db, caller, user.id, resetId));
    const hash = secrets.lookupHash(token, 'password_reset');
    await tx.execute(storeToken(db, caller, resetId, user, hash));
    await queueAccountMail(db, tx, {
      userId: user.id,
      kind: 'password_reset_link',
      encrypt: (mailId) => secrets.encrypt(token, { tenantId, rowId: mailId, field: 'mail_secret' }),
    });
  });
}
