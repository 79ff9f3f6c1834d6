import type { UserTx } from '../../../platform/db/scope.js';
import { assertRecentLogin, type Settle } from '../../auth/public.js';
import { namesNewUrl, URLS, type ProfileChange } from './url-origins.js';

type Change = Omit<ProfileChange, 'row'>;

/** Whether a change of a courier's profile sends its data elsewhere, or nowhere. */
export const isRedirected = ({ before, after }: Change): boolean =>
  [...URLS, 'email' as const].some((name) => before[name] !== after[name]);

/**
 * Makes sure that a person of the staff, who can redirect the data of each courier, confirms that they go to a new URL or to another
 * e-mail address. With a stolen session, the thief would read on after its end (decision 0135). A courier that redirects its own data
 * is told by mail.
 *
 * @param settle is set if the caller has confirmed it with the own password
 * @throws ApiError validation_failed
 */
export async function assertMayRedirect(
  tx: UserTx,
  change: Change,
  settle: Settle | undefined,
): Promise<void> {
  const { caller } = tx;
  if (settle || caller.kind !== 'user' || caller.courierId !== null) return;
  const { email } = change.after;
  const hasNewAddress = email !== null && email !== change.before.email;
  if (hasNewAddress || namesNewUrl(change)) await assertRecentLogin(tx, caller);
}
