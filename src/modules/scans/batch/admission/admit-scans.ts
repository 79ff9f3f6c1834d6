import { ApiError } from '../../../../platform/errors/errors.js';
import type { ReferencedRecords } from '../../../packages/public.js';
import type { ConflictReason } from '../../fold/fold.js';
import {
  ID_REUSED,
  isAccepted,
  RECEIPT_VOIDED,
  toRefusal,
  type ReadScan,
  type RefusedScan,
} from '../messages/read-scans.js';
import type { KnownScan, ManifestRow } from '../stored/queries.js';
import { referencesOf } from './check-references.js';
import type { LockedScans } from './lock-scans.js';

/** A scan that is stored already, or that can be stored. */
export type AdmittedScan = ReadScan & {
  isRepeated: boolean;
  /** Of a stored scan: the reason that is stored. */
  storedReason: ConflictReason | null;
  manifestId: string | null;
  /** Of a load or unload: whether the manifest is ready. */
  isAdmitted: boolean;
  /** What a new receive scan refers to. */
  references: ReferencedRecords | undefined;
};

type Admitted = AdmittedScan | RefusedScan;

/** Tells which scans are stored already, and refuses those that refer to records that do not exist. */
export function admitScans({ scans, stored, manifests, references }: LockedScans): Admitted[] {
  const storedOf = new Map(stored.map((row) => [row.id, row]));
  const hashes = new Map(stored.map((row) => [row.id, row.contentHash]));
  return scans.map((each) => {
    if (!isAccepted(each)) return each;
    const hash = hashes.get(each.id);
    if (hash !== undefined && hash !== each.contentHash) return { scanId: each.id, refusal: ID_REUSED };
    const known = storedOf.get(each.id);
    if (known?.voidedAt) return { scanId: each.id, refusal: RECEIPT_VOIDED };
    if (hash !== undefined) return repeated(each, known);
    const named = each.kind === 'receive' ? references.get(referencesOf(each)) : undefined;
    const admitted = admit(each, named, manifests);
    if (isAccepted(admitted)) hashes.set(each.id, each.contentHash);
    return admitted;
  });
}

const repeated = (scan: ReadScan, stored: KnownScan | undefined): AdmittedScan => ({
  ...scan,
  keys: stored ? [...new Set([stored.parcelKey, ...scan.keys])] : scan.keys,
  isRepeated: true,
  storedReason: stored?.reason ?? null,
  manifestId: null,
  isAdmitted: true,
  references: undefined,
});

function admit(
  scan: ReadScan,
  references: ReferencedRecords | ApiError | undefined,
  manifests: ManifestRow[],
): Admitted {
  if (references instanceof ApiError)
    return { scanId: scan.id, refusal: toRefusal(references, FIELDS[references.code]) };
  const { manifest_id: id, manifest_number: number } = scan.details;
  const own = { ...scan, isRepeated: false, storedReason: null, references };
  if (id === undefined && number === undefined) return { ...own, manifestId: null, isAdmitted: true };
  const manifest = manifests.find((row) => row.id === id || row.manifestNumber === number);
  if (manifest) return { ...own, manifestId: manifest.id, isAdmitted: manifest.status === 'ready' };
  const field = id === undefined ? 'manifest_number' : 'manifest_id';
  return { scanId: scan.id, refusal: toRefusal(new ApiError('manifest_not_found'), field) };
}

const FIELDS: Partial<Record<ApiError['code'], string>> = {
  courier_not_found: 'courier_id',
  carrier_not_found: 'carrier_id',
  warehouse_not_found: 'warehouse_id',
};
