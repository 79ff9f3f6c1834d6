import type { LoginGate } from './auth/login-gate.js';
import type { Secrets } from './auth/secrets.js';
import type { Tokens } from './auth/tokens.js';
import type { Db } from './db/transaction.js';
import type { OutboundRules } from './outbound/urls.js';

/** What handlers are made from. */
export type Deps = {
  db: Db;
  secrets: Secrets;
  tokens: Tokens;
  loginGate: LoginGate;
  /** Which addresses couriers may have us call. */
  outbound: OutboundRules;
  customerChangesPerDay: number;
  /** The published contract, as text. */
  contract: { json: string; yaml: string };
};
