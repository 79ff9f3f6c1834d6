import { openLastUse, type LastUse } from '../../platform/context/last-use.js';
import type { PersonCaller } from '../../platform/identity/callers.js';
import { writeLastSeen } from './queries.js';

export type LastSeen = LastUse<Pick<PersonCaller, 'tenantId' | 'sessionId'>>;

/** Writes sessions.last_seen_at. */
export const openLastSeen = (onError: (error: unknown) => void): LastSeen =>
  openLastUse({ idOf: ({ sessionId }) => sessionId, write: writeLastSeen, onError });
