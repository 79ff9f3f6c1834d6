import { openLastUse, type LastUse } from '../../platform/context/last-use.js';
import { writeLastUse, type Used } from './queries.js';

/** Writes the time and the address of the last use of service tokens. */
export const openTokenUse = (onError: (error: unknown) => void): LastUse<Used> =>
  openLastUse({ idOf: ({ tokenId }) => tokenId, write: writeLastUse, onError });
