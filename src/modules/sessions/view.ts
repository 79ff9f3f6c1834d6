import type { components } from '../../../generated/contract.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { SessionRow } from './queries.js';

export function viewSession(
  row: SessionRow,
  currentId: string | undefined,
): components['schemas']['LoginSession'] {
  return {
    session_id: row.id,
    user_id: row.userId,
    is_current: row.id === currentId,
    is_active: row.endReason === null,
    started_by: row.startedBy,
    address: row.address,
    user_agent: row.userAgent,
    created_at: formatDateTime(row.createdAt),
    last_seen_at: formatDateTime(row.lastSeenAt),
    expires_at: formatDateTime(row.expiresAt),
    ended_at: row.endedAt && formatDateTime(row.endedAt),
    end_reason: row.endReason,
  };
}
