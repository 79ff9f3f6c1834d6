import type { CourierRow, Kind, LostRow } from './queries.js';
import type { LoggedRequest } from './from-logs.js';

/** A line of the report: something that the restored database does not know, or that a courier must be told. */
export type ReportLine = {
  tenant: string;
  /** The courier's code; empty if the line concerns only staff. In parentheses, the caller of a request whose courier is not known. */
  courier: string;
  kind: Kind | 'request' | 'feed';
  id: string;
  reference: string;
  at: string;
  note: string;
};

export const COLUMNS = ['tenant', 'courier', 'kind', 'id', 'reference', 'at', 'note'] as const;

/** Returns the line about a courier's event feed and its webhooks that wait. */
export function feedLine(restored: CourierRow, lost: CourierRow | undefined, since: Date): ReportLine {
  const last = lost ? `The lost server had assigned ${lost.lastSequence}. ` : '';
  return {
    tenant: restored.tenant,
    courier: restored.code,
    kind: 'feed',
    id: restored.id,
    reference: String(restored.lastSequence),
    at: since.toISOString(),
    note:
      `${last}Later sequence numbers are assigned again: continue the feed after ${restored.lastSequence}. ` +
      `${restored.pending} webhooks wait and may arrive again with the same webhook-id.`,
  };
}

export const rowLine = (row: LostRow, tenant: string, courier: string): ReportLine => ({
  tenant,
  courier,
  kind: row.kind,
  id: row.id,
  reference: row.reference ?? '',
  at: row.at.toISOString(),
  note: row.note,
});

/** Returns the courier that sent a request. A log of an earlier version has only the key of a request with an API key. */
export const courierOf = ({ courierId, keyId }: LoggedRequest, couriers: CourierRow[]) =>
  courierId === undefined
    ? couriers.find((courier) => courier.keyId !== null && courier.keyId === keyId)
    : couriers.find(({ id }) => id === courierId);

/** Says who sent a request of which no database knows the courier. Empty for staff. */
function describeCaller({ courierId, keyId, isOfAccount }: LoggedRequest): string {
  if (courierId !== undefined) return `(unknown courier ${courierId})`;
  if (keyId !== undefined) return `(unknown API key ${keyId})`;
  return isOfAccount ? '' : '(no credential)';
}

/** @param slug of the tenant. A tenant that is lost too has only the id that the log has */
export const requestLine = (
  request: LoggedRequest,
  courier: CourierRow | undefined,
  slug: string | undefined,
): ReportLine => ({
  tenant: courier?.tenant ?? slug ?? request.tenantId ?? '',
  courier: courier?.code ?? describeCaller(request),
  kind: 'request',
  id: request.requestId,
  reference: request.operationId,
  at: request.at.toISOString(),
  note: 'acknowledged, according to the log',
});

/** Returns lines without those of rows that another lost server has too. */
export function withoutRepeated(lines: ReportLine[]): ReportLine[] {
  const keyOf = ({ kind, tenant, id, at }: ReportLine) => `${kind} ${tenant} ${id} ${at}`;
  return [...new Map(lines.map((line) => [keyOf(line), line])).values()];
}

/** Returns one line of text per courier with the number of lines of each kind. */
export function summarise(lines: ReportLine[]): string[] {
  const byCourier = new Map<string, Map<string, number>>();
  for (const { tenant, courier, kind } of lines) {
    const key = `${tenant} ${courier || '(staff)'}`;
    const counts = byCourier.get(key) ?? new Map<string, number>();
    if (kind !== 'feed') counts.set(kind, (counts.get(kind) ?? 0) + 1);
    byCourier.set(key, counts);
  }
  return [...byCourier].map(
    ([key, counts]) =>
      `${key}: ${[...counts].map(([kind, count]) => `${count} of kind ${kind}`).join(', ') || 'nothing known'}`,
  );
}
