import { openLastUse, type LastUse, type Use } from '../../platform/context/last-use.js';
import type { TokenCaller } from '../../platform/identity/callers.js';
import { writeLastUse } from './queries.js';

/** What is known of a token that was used. */
type Used = Pick<TokenCaller, 'tenantId' | 'tokenId' | 'address'>;

export type TokenUse = Use<Used>;

/** Writes the time and the address of the last use of service tokens. */
export const openTokenUse = (onError: (error: unknown) => void): LastUse<Used> =>
  openLastUse({ idOf: ({ tokenId }) => tokenId, write: writeLastUse, onError });
