import type { Logger } from 'pino';
import { audit, type AuditFact } from '../../platform/audit/audit.js';
import type { SystemTx } from '../../platform/db/scope.js';

/** What the log and the audit trail say about a row that people must look at. */
type Wording<Row> = {
  message: string;
  fields: (row: Row) => Record<string, unknown>;
  fact: (row: Row) => AuditFact;
};

/** Reports rows that people must look at. Returns their number. */
export function report<Row>(
  tx: SystemTx,
  rows: Row[],
  log: Pick<Logger, 'warn'>,
  { message, fields, fact }: Wording<Row>,
): number {
  for (const row of rows) log.warn({ tenantId: tx.tenantId, ...fields(row) }, message);
  if (rows.length > 0) tx.later(audit(tx, ...rows.map(fact)));
  return rows.length;
}
