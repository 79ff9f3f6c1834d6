import type { ReplyOf } from '../../platform/contract/types.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { PageBefore } from '../../platform/context/read-page.js';
import type { AuditRow } from './queries.js';
import type { Verification } from './verify-chain.js';
import { countOf } from '../../platform/values/count-of.js';

type Listed = ReplyOf<'listAuditEntries'>;

export const viewEntries = ({ rows, meta }: PageBefore<AuditRow>): Listed => ({
  statusCode: 200,
  message: `${countOf(rows.length, 'entry', 'entries')} on this page.`,
  data: rows.map(viewEntry),
  meta,
});

const viewEntry = (row: AuditRow): Listed['data'][number] => ({
  audit_id: row.id,
  at: formatDateTime(row.at),
  actor_kind: row.actorKind,
  actor_id: row.actorId,
  actor_name: row.actorName,
  action: row.action,
  entity: row.entity,
  entity_id: row.entityId,
  before: row.before,
  after: row.after,
  remarks: row.remarks,
  request_id: row.requestId,
  hash: row.hash,
  sequence: row.sequence === null ? null : Number(row.sequence),
});

export function viewVerification(found: Verification): ReplyOf<'verifyAuditLog'> {
  const { verified, after, to, maxEntries, flaw, nextAfter, head, unsealed, inserted } = found;
  const entries = countOf(verified, 'entry is', 'entries are');
  const message = flaw
    ? `The log was altered. See first_altered. ${entries} unaltered.`
    : `${entries} unaltered.`;
  return {
    statusCode: 200,
    message,
    data: {
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
    },
  };
}
