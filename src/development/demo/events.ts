import { DEMO } from './demo.js';
import { demoId } from './values/ids.js';
import type { PackageRow } from './packages.js';
import type { Row } from './values/rows.js';

/** Returns the events of the packages: received, and shipped with the manifest. */
export function eventRows(packages: PackageRow[], receivedBy: string): Row[] {
  const received = packages.map((row, index) => ({
    ...eventOf(row),
    id: demoId(tenantOf(row), 'receivedEvent', index + 1),
    previous_status: null,
    status: 'received',
    actor_user_id: receivedBy,
    source: 'intake',
    occurred_at: row.received_at,
    recorded_at: row.received_at,
  }));
  const shipped = packages.flatMap((row, index) =>
    row.status === 'shipped'
      ? {
          ...eventOf(row),
          id: demoId(tenantOf(row), 'shippedEvent', index + 1),
          previous_status: 'received',
          status: 'shipped',
          actor_user_id: DEMO.users.manager,
          source: 'manifest',
          occurred_at: row.updated_at,
          recorded_at: row.updated_at,
        }
      : [],
  );
  return [...received, ...shipped];
}

const tenantOf = (row: PackageRow) => (row.tenant_id === DEMO.tenants.two ? 'two' : 'demo');
const eventOf = (row: PackageRow) => ({
  tenant_id: row.tenant_id,
  package_id: row.id,
  courier_id: row.courier_id,
});
