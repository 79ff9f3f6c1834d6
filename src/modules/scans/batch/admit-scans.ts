import { ApiError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';
import {
  findNamedCustomers,
  findNamedIds,
  readReferences,
  type ReferencedRecords,
} from '../../packages/public.js';
import type { ConflictReason } from '../fold/fold.js';
import * as queries from './queries.js';
import {
  ID_REUSED,
  isAccepted,
  toIntake,
  toRefusal,
  type ReadScan,
  type RefusedScan,
} from './messages/read-scans.js';

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

/** Finds out which scans are stored already, and refuses those that refer to records that do not exist. */
export async function admitScans(tx: UserTx, received: (ReadScan | RefusedScan)[]): Promise<Admitted[]> {
  const scans = received.filter(isAccepted);
  const [known, manifests] = await tx.query([
    queries.scansById(
      tx,
      scans.map(({ id }) => id),
    ),
    queries.lockedManifests(
      tx,
      scans.flatMap(({ details }) => details.manifest_id ?? []),
      scans.flatMap(({ details }) => details.manifest_number ?? []),
    ),
  ]);
  const stored = new Map(known.map((row) => [row.id, row]));
  const references = await checkReferences(
    tx,
    scans.filter(({ id }) => !stored.has(id)),
  );
  const hashes = new Map(known.map((row) => [row.id, row.contentHash]));
  return received.map((each) => {
    if (!isAccepted(each)) return each;
    const hash = hashes.get(each.id);
    if (hash !== undefined && hash !== each.contentHash) return { scanId: each.id, refusal: ID_REUSED };
    if (hash !== undefined) return repeated(each, stored.get(each.id));
    const admitted = admit(each, references.get(each), manifests);
    if (isAccepted(admitted)) hashes.set(each.id, each.contentHash);
    return admitted;
  });
}

const repeated = (scan: ReadScan, stored: queries.KnownScan | undefined): AdmittedScan => ({
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
  manifests: queries.ManifestRow[],
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

/**
 * Checks the courier, customer, carrier and warehouse that receive scans name, as intake does. Returns what they refer to, or why a scan
 * must be refused. Intake uses the result: if it looked again, a record that has changed meanwhile would refuse the whole batch.
 */
async function checkReferences(
  tx: UserTx,
  scans: ReadScan[],
): Promise<Map<ReadScan, ReferencedRecords | ApiError>> {
  const receives = scans.filter(({ kind }) => kind === 'receive');
  const named = new Map(receives.map((scan) => [referencesOf(scan), toIntake(scan)]));
  const intakes = [...named.values()];
  if (intakes.length === 0) return new Map();
  const ids = await tx.query(intakes.map((intake) => findNamedIds(tx, intake)));
  const customers = await tx.query(intakes.map((intake) => findNamedCustomers(tx, intake)));
  const checked = new Map(
    [...named].map(([key, intake], index) => [
      key,
      checkReference(intake, ids[index]?.[0], customers[index] ?? []),
    ]),
  );
  return new Map(
    receives.flatMap((scan) => {
      const references = checked.get(referencesOf(scan));
      return references ? [[scan, references] as const] : [];
    }),
  );
}

const referencesOf = ({ details }: ReadScan): string =>
  JSON.stringify([details.courier_id, details.user_code, details.carrier_id, details.warehouse_id]);

function checkReference(...found: Parameters<typeof readReferences>): ReferencedRecords | ApiError {
  try {
    return readReferences(...found);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const FIELDS: Partial<Record<ApiError['code'], string>> = {
  courier_not_found: 'courier_id',
  carrier_not_found: 'carrier_id',
  warehouse_not_found: 'warehouse_id',
};
