import type { Handlers } from '../../../generated/handlers.js';
import { pageBeforeReply } from '../../platform/contract/page-reply.js';
import { numberOrNull, recordOf } from '../../platform/contract/record.js';
import { reply } from '../../platform/contract/reply.js';
import type { DataOf, ReplyOf } from '../../platform/contract/types.js';
import { countOf } from '../../platform/values/count-of.js';
import type { Deps } from '../dependencies.js';
import { listEntries } from './audit-log.js';
import type { AuditRow } from './queries.js';
import { verifyChain, type Verification } from './verify-chain.js';

export function auditLogHandlers({ secrets }: Pick<Deps, 'secrets'>) {
  return {
    listAuditEntries: async ({ ctx, query }) =>
      pageBeforeReply(await listEntries(ctx, secrets, query), ['entry', 'entries'], viewEntry),
    verifyAuditLog: async ({ ctx, body }) => viewVerification(await verifyChain(ctx, secrets, body)),
  } satisfies Partial<Handlers>;
}

const viewEntry = ({ id, sequence, ...row }: AuditRow): DataOf<'listAuditEntries'>[number] => ({
  audit_id: id,
  ...recordOf(row),
  sequence: numberOrNull(sequence),
});

function viewVerification(found: Verification): ReplyOf<'verifyAuditLog'> {
  const { verified, after, to, maxEntries, flaw, nextAfter, head, unsealed, inserted } = found;
  const entries = countOf(verified, 'entry is', 'entries are');
  const message = flaw
    ? `The log was altered. See first_altered. ${entries} unaltered.`
    : `${entries} unaltered.`;
  return reply(message, {
    intact: flaw === undefined,
    verified,
    from: after + 1,
    to,
    max_entries: maxEntries,
    first_altered: flaw ? { sequence: flaw.sequence, audit_id: flaw.entryId, problem: flaw.problem } : null,
    inserted,
    unsealed,
    next_after: nextAfter,
    head,
  });
}
