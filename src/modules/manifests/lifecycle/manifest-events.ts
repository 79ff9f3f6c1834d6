import type { components } from '../../../../generated/contract.js';
import type { Tx } from '../../../platform/db/scope.js';
import { emitRecordEvents } from '../../webhooks/public.js';
import type { ManifestPackageRow } from './package-queries.js';
import type { ManifestRow } from './queries.js';

type Schemas = components['schemas'];

const TYPES = { shipped: 'manifest.departed', completed: 'manifest.arrived' } as const;

/** The most packages that an event names. Source: the contract's EventManifest. */
const MAX_NAMED = 1_000;

/** Emits an event for each courier aboard, with that courier's packages only, if the manifest has left or arrived. Returns how many. */
export function emitManifestEvents(tx: Tx, manifest: ManifestRow, aboard: ManifestPackageRow[]): number {
  const { status } = manifest;
  if (status !== 'shipped' && status !== 'completed') return 0;
  const byCourier = new Map<string, ManifestPackageRow[]>();
  for (const row of aboard) {
    if (row.courierId === null) continue;
    const own = byCourier.get(row.courierId);
    if (own) own.push(row);
    else byCourier.set(row.courierId, [row]);
  }
  emitRecordEvents(
    tx,
    [...byCourier].map(([courierId, own]) => ({
      courierId,
      type: TYPES[status],
      data: viewManifest({ ...manifest, status }, own),
    })),
  );
  return byCourier.size;
}

type Moved = Omit<ManifestRow, 'status'> & { status: keyof typeof TYPES };

function viewManifest(manifest: Moved, own: ManifestPackageRow[]): Schemas['EventManifest'] {
  // In thousandths of a pound, as the column is: a sum of fractions would not be exact.
  const thousandths = own.reduce((sum, { weightLb }) => sum + Math.round(Number(weightLb) * 1_000), 0);
  return {
    manifest_id: manifest.id,
    manifest_number: manifest.manifest_number,
    awb_number: manifest.awb_number,
    flight_number: manifest.flight_number,
    flight_date: manifest.flight_date,
    status: manifest.status,
    total_packages: own.length,
    total_weight: thousandths / 1_000,
    package_ids: own.slice(0, MAX_NAMED).map(({ id }) => id),
    package_ids_are_cut: own.length > MAX_NAMED,
  };
}
