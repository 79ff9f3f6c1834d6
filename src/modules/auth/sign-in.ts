import type { Account } from './credentials/account-queries.js';

/** An authenticated user, and the session of its token. */
export type SignIn = { account: Account; sessionId: string };
