import { countBackupCodes, pendingSetup } from './queries.js';
import { readOwnAccount } from '../credentials/own-password.js';
import type { UserContext } from '../../../platform/context/request-context.js';

export type FactorStatus = {
  isEnabled: boolean;
  /** Whether the tenant requires a second factor for the user's role. */
  isRequired: boolean;
  backupCodesLeft: number;
  setupExpiresAt: Date | null;
};

/** Returns the state of the caller's second factor. */
export async function readFactor(ctx: UserContext): Promise<FactorStatus> {
  const account = await readOwnAccount(ctx);
  const [[codes], [pending]] = await ctx.asTenant().read([countBackupCodes(ctx), pendingSetup(ctx)]);
  return {
    isEnabled: account.twoFactorEnabled,
    isRequired: account.isFactorRequired,
    backupCodesLeft: codes?.left ?? 0,
    setupExpiresAt: pending?.expiresAt ?? null,
  };
}
