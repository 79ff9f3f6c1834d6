import { randomUUID } from 'node:crypto';
import type { JsonBodyOf } from '../../../src/platform/contract/types.js';
import type { Api } from '../fixture/api.js';
import type { PendingCall } from '../fixture/pending-call.js';

export const STATUSES = ['draft', 'ready', 'shipped', 'completed'] as const;

type Creation = Omit<Extract<JsonBodyOf<'manageManifest'>, { action: 'create_manifest' }>, 'action'>;
type Update = Extract<JsonBodyOf<'manageManifest'>, { action: 'update_meta' }>;
type Changes = Omit<Update, 'action' | 'manifest_id'>;

/** Calls that make, change and ship manifests. */
export function makeManifests(api: Api) {
  const update = (manifest_id: string, changes: Changes, as = 'warehouse'): PendingCall<'manageManifest'> =>
    api.as(as).manageManifest({ action: 'update_meta', manifest_id, ...changes });

  const add = (manifest_id: string, ...package_ids: string[]): PendingCall<'manageManifest'> =>
    api.as('warehouse').manageManifest({ action: 'add_packages', manifest_id, package_ids });

  /** Creates a draft with packages, and returns its id and number. */
  async function draft(packageIds: string[] = [], fields: Creation = {}) {
    const { data } = await api
      .as('warehouse')
      .manageManifest({ action: 'create_manifest', ...fields })
      .ok();
    if (packageIds.length > 0) await add(data.manifest_id, ...packageIds).ok();
    return { id: data.manifest_id, number: data.manifest_number };
  }

  return {
    update,
    add,
    draft,
    /** Creates a manifest with packages that is ready, by a manager, who may set its gate. */
    async ready(packageIds: string[] = [], gate?: Changes['loading_gate']) {
      const manifest = await draft(packageIds);
      await update(manifest.id, { status: 'ready', ...(gate ? { loading_gate: gate } : {}) }, 'manager').ok();
      return manifest;
    },
    ship: (id: string): PendingCall<'manageManifest'> => update(id, { status: 'shipped' }),
  };
}

/** Creates a warehouse, with a gate for loads or without one, and returns its id. */
export async function newWarehouse(api: Api, hasGate: boolean): Promise<string> {
  const manager = api.as('manager');
  const created = await manager
    .manageWarehouses({ action: 'create', name: `Warehouse ${randomUUID()}` })
    .succeeded();
  const { warehouse_id } = created.data;
  await manager.manageWarehouses({ action: 'update', warehouse_id, loading_gate: hasGate }).ok();
  return warehouse_id;
}
