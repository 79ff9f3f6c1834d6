import { containsBlock } from '../../platform/values/network-address.js';
import type { TokenRow } from './queries.js';

type Rights = Pick<TokenRow, 'scopes' | 'addresses' | 'expiresAt'>;

/** Whether a token may do more, be used from more addresses, or be valid for longer than before. */
export const widens = (before: Rights, after: Rights): boolean =>
  after.scopes.some((scope) => !before.scopes.includes(scope)) ||
  after.expiresAt > before.expiresAt ||
  widensAddresses(before.addresses, after.addresses);

/** An empty list means any address. */
function widensAddresses(before: readonly string[], after: readonly string[]): boolean {
  if (before.length === 0) return false;
  return after.length === 0 || after.some((block) => !before.some((outer) => containsBlock(outer, block)));
}
