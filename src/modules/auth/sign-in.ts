import type { Account } from './credentials/account-queries.js';

/** A user who has just proved who it is, and the session that its token belongs to. */
export type SignIn = { account: Account; sessionId: string };
