import type { UserTx } from '../../../platform/db/scope.js';
import { assertRecentLogin, type Settle } from '../../auth/public.js';
import { assertMayRead } from '../shared/event-types.js';
import { namesNewUrl, URLS, type ProfileChange } from './url-origins.js';

type Change = Omit<ProfileChange, 'row'>;

const LISTS = ['add_package_events', 'update_package_events'] as const;

/** Whether a change of a courier's profile sends its data elsewhere, or nowhere, or sends other data. The lists of events are the same arrays unless they differ. */
export const isRedirected = ({ before, after }: Change): boolean =>
  [...URLS, ...LISTS, 'email' as const].some((name) => before[name] !== after[name]);

/**
 * Makes sure that a service token causes no events to be sent whose content it may not read: neither by choosing their types, nor by
 * naming another URL for types that are chosen already.
 * @throws ApiError scope_missing
 */
export async function assertMaySend(tx: UserTx, { before, after }: Change): Promise<void> {
  if (tx.caller.kind !== 'token') return;
  const types = (['add_package', 'update_package'] as const).flatMap((endpoint) => {
    const chosen = after[`${endpoint}_events`];
    const hasNewUrl = before[`api_url_${endpoint}`] !== after[`api_url_${endpoint}`];
    if (hasNewUrl) return after[`api_url_${endpoint}`] === null ? [] : chosen;
    return chosen.filter((type) => !before[`${endpoint}_events`].includes(type));
  });
  await assertMayRead(tx, tx.caller, types);
}

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
