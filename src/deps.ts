import type { LoginGate } from './auth/login-gate.js';
import type { Secrets } from './auth/secrets.js';
import type { Tokens } from './auth/tokens.js';
import type { StaticDocument } from './contract/types.js';
import type { LogoDrawer } from './couriers/drawer.js';
import type { Db } from './db/transaction.js';
import type { OutboundRules } from './outbound/urls.js';
import type { SecurityLog } from './security-log.js';

/** What handlers are made from. */
export type Deps = {
  db: Db;
  secrets: Secrets;
  tokens: Tokens;
  loginGate: LoginGate;
  drawLogo: LogoDrawer;
  /** Which addresses couriers may have us call. */
  outbound: OutboundRules;
  securityLog: SecurityLog;
  /** The published contract. */
  contract: { json: StaticDocument; yaml: StaticDocument };
  /** The names of the migrations that this build knows. */
  migrations: string[];
  customerChangesPerDay: number;
};
