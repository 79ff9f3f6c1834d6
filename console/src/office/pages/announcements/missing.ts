import { api } from '../../../session/session.js';
import { PAGE_SIZE } from '../../list/listed.js';

/** The announced parcels that a carrier has delivered and nobody has scanned. They have an order of their own, and no search. */
export async function loadMissing(page: number, courier: string | undefined, signal: AbortSignal) {
  const { data, meta } = await api().prealerts.listMissing(
    { page, limit: PAGE_SIZE, ...(courier ? { courier_id: courier } : {}) },
    { signal },
  );
  return { rows: data, total: meta.total_records };
}
