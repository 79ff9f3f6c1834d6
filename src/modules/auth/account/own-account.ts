import { accountById, type SignIn } from '../credentials/account-queries.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/db/scope.js';
import { queueAccountMail, type AccountMailKind } from '../../mail/public.js';
import { beginSession, type Client, type StartedBy } from '../../sessions/public.js';
import { countBackupCodes, pendingSetup } from './queries.js';
import { readOwnAccount } from '../credentials/own-password.js';

// Changes of a user's own account run in the tenant's scope (ctx.asTenant), because couriers have no access to throttles
// and codes. Each statement is limited to the user id of `ctx`: the caller of `tx` is the whole tenant.

/** Queues a mail to the user about the change, in case somebody else has the user's token. Returns whether the user has an address. */
export const queueOwnerMail = (
  ctx: PersonContext,
  tx: Tx,
  client: Client,
  kind: AccountMailKind,
): Promise<boolean> => queueAccountMail(tx, { userId: ctx.caller.userId, kind, client });

/** Returns the account as the transaction has changed it, and starts the session of its new token. */
export async function startNewSession(
  ctx: PersonContext,
  tx: Tx,
  client: Client,
  startedBy: StartedBy,
): Promise<SignIn> {
  const [account] = await tx.query(accountById(ctx, ctx.caller.userId));
  if (!account) throw new Error('The user was not found in the transaction that wrote it.');
  return { account, sessionId: await beginSession(tx, account, startedBy, client) };
}

export type FactorStatus = {
  isEnabled: boolean;
  /** Whether the tenant requires a second factor for the user's role. */
  isRequired: boolean;
  backupCodesLeft: number;
  setupExpiresAt: Date | null;
};

/** Returns the state of the caller's second factor. */
export async function readFactor(ctx: PersonContext): Promise<FactorStatus> {
  const account = await readOwnAccount(ctx);
  const [[codes], [pending]] = await ctx.asTenant().read([countBackupCodes(ctx), pendingSetup(ctx)]);
  return {
    isEnabled: account.twoFactorEnabled,
    isRequired: account.isFactorRequired,
    backupCodesLeft: codes?.left ?? 0,
    setupExpiresAt: pending?.expiresAt ?? null,
  };
}
