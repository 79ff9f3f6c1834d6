import type { Logger } from 'pino';
import type { LoginLimiter } from '../platform/limits/login-limiter.js';
import type { Secrets } from '../platform/access/secrets.js';
import type { Tokens } from '../platform/access/tokens.js';
import type { ContractFiles } from '../platform/contract/bundle.js';
import type { BulkLimits } from '../platform/limits/bulk-limits.js';
import type { SharedLimits } from '../platform/limits/shared/shared-limits.js';
import type { WorkbookReader } from '../platform/files/workbook/read-workbook.js';
import type { WorkbookWriters } from '../platform/files/spreadsheet/write-workbook.js';
import type { StaticDocument } from '../platform/contract/types.js';
import type { Passwords } from './auth/public.js';
import type { LogoDrawer } from './couriers/logo/logo-drawer.js';
import type { Db } from '../platform/db/database.js';
import type { OutboundRules } from '../platform/outbound/urls.js';
import type { SecurityLog } from '../platform/logging/security-log.js';

/** The dependencies that every module's handlers receive. */
export type Deps = {
  db: Db;
  secrets: Secrets;
  tokens: Tokens;
  loginLimiter: LoginLimiter;
  passwords: Passwords;
  drawLogo: LogoDrawer;
  readWorkbook: WorkbookReader;
  writeWorkbooks: WorkbookWriters;
  /** The rules that decide which courier URLs the service may call. */
  outbound: OutboundRules;
  securityLog: SecurityLog;
  log: Pick<Logger, 'info' | 'error'>;
  /** The published OpenAPI contract. */
  contract: Record<keyof ContractFiles, StaticDocument>;
  /** The names of the migrations that this build contains. */
  migrations: string[];
  customerChangesPerDay: number;
  /** For how many days calls are kept, and which share of the successful ones. */
  keptCalls: { days: number; percent: number };
  /** The URL under which people reach the service. If undefined, no mail can have a link to it. */
  publicUrl: string | undefined;
  bulk: BulkLimits;
  /** For limits that one module has. */
  limits: SharedLimits;
};
