import type { Handlers } from '../../../generated/handlers.js';
import type { Deps } from '../dependencies.js';
import { listEntries } from './audit-log.js';
import { verifyChain } from './verify-chain.js';
import { viewEntries, viewVerification } from './view.js';

export function auditLogHandlers({ secrets }: Pick<Deps, 'secrets'>) {
  return {
    listAuditEntries: async ({ ctx, query }) => viewEntries(await listEntries(ctx, secrets, query)),
    verifyAuditLog: async ({ ctx, body }) => viewVerification(await verifyChain(ctx, secrets, body)),
  } satisfies Partial<Handlers>;
}
