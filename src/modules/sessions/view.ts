import type { components } from '../../../generated/contract.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { SessionRow } from './queries.js';

export function viewSession(
  row: SessionRow,
  currentId: string | undefined,
): components['schemas']['Session'] {
  return {
    session_id: row.id,
    user_id: row.user_id,
    is_current: row.id === currentId,
    is_active: row.end_reason === null,
    started_by: row.started_by,
    address: row.address,
    user_agent: row.user_agent,
    created_at: formatDateTime(row.created_at),
    last_seen_at: formatDateTime(row.last_seen_at),
    expires_at: formatDateTime(row.expires_at),
    ended_at: row.ended_at && formatDateTime(row.ended_at),
    end_reason: row.end_reason,
  };
}
