import type { Handlers } from '../../../generated/handlers.js';
import type { Deps } from '../dependencies.js';
import { listEntries } from './audit-log.js';
import { verifyChain } from './verify-chain.js';
import { viewEntries, viewVerification } from './view.js';

export function auditLogHandlers({ db, secrets }: Deps) {
  const appender = { db, secrets };
  return {
    listAuditLog: async ({ query, caller }) => viewEntries(await listEntries(appender, caller, query)),
    verifyAuditLog: async ({ body, caller }) => viewVerification(await verifyChain(appender, caller, body)),
  } satisfies Pick<Handlers, 'listAuditLog' | 'verifyAuditLog'>;
}
