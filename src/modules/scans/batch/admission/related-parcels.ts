import { compareScans } from '../../fold/fold.js';
import type { AdmittedScan } from './admit-scans.js';

/** A parcel of a batch, and its scans. */
export type BatchParcel<Scan> = {
  /** The keys that its scans name, the one that its rows get first. */
  keys: string[];
  /** The keys whose stored scans and places are of this parcel. No two parcels of a batch have a common one. */
  storedKeys: string[];
  scans: Scan[];
};

type Ordered = Pick<AdmittedScan, 'id' | 'keys' | 'kind' | 'isRepeated' | 'scannedAt'>;

/** A parcel to which scans are added. Each takes as long as it has keys, however many the parcel has. */
type GrowingParcel<Scan> = Omit<BatchParcel<Scan>, 'keys'> & {
  /** The keys that its rows have had, the present one last. */
  rowKeys: Set<string>;
  keys: Set<string>;
};

type Separated<Scan> = {
  /** In the order in which they are received. */
  parcels: BatchParcel<Scan>[];
  /** The scans that several packages fit, by their ids, with the keys of the packages. They have no parcel. */
  open: Map<string, string[]>;
};

/**
 * Separates the parcels of scans that have common keys, as if the scans were sent one by one in the order of their times: two numbers
 * of FedEx with 14 digits can end in the same 12, and a short number is of the parcel that is known then (decision 0105). Writes
 * nothing, so that each parcel is then executed once.
 *
 * @param stored the keys of the packages
 */
export function separateParcels<Scan extends Ordered>(
  scans: Scan[],
  stored: ReadonlySet<string>,
): Separated<Scan> {
  const packages = new Set(stored);
  /** The parcels by the key that their rows have. */
  const parcels = new Map<string, GrowingParcel<Scan>>();
  const taken = new Set<string>();
  const open: Separated<Scan>['open'] = new Map();
  for (const scan of [...scans].sort(compareScans)) {
    const [first = '', ...others] = scan.keys;
    const found = scan.keys.filter((key) => packages.has(key));
    // A scan that is stored already has its parcel.
    if (found.length > 1 && found[0] !== first && !scan.isRepeated) open.set(scan.id, found);
    if (open.has(scan.id)) continue;
    const key = found[0] ?? first;
    const own = [key, first, ...others].filter((each) => each === key || !packages.has(each));
    const parcel = joinParcels(parcels, own);
    parcel.rowKeys.delete(key);
    parcel.rowKeys.add(key);
    addAll(parcel.keys, own);
    parcel.storedKeys.push(...new Set(own.filter((each) => !taken.has(each))));
    parcel.scans.push(scan);
    parcels.set(key, parcel);
    addAll(taken, own);
    if (scan.kind === 'receive' && !scan.isRepeated) packages.add(key);
  }
  return { parcels: [...parcels.values()].map(toParcel).sort(byReceipt), open };
}

const toParcel = <Scan extends Ordered>(parcel: GrowingParcel<Scan>): BatchParcel<Scan> => ({
  keys: keysOf(parcel),
  storedKeys: parcel.storedKeys,
  scans: parcel.scans.sort(compareScans),
});

const keysOf = ({ rowKeys, keys }: GrowingParcel<unknown>): string[] => [
  ...new Set([...[...rowKeys].reverse(), ...keys]),
];

function addAll(set: Set<string>, keys: readonly string[]): void {
  for (const key of keys) set.add(key);
}

/** Joins the parcels whose rows have one of the keys, and takes them out of `parcels`. */
function joinParcels<Scan extends Ordered>(
  parcels: Map<string, GrowingParcel<Scan>>,
  keys: string[],
): GrowingParcel<Scan> {
  const [first, ...others] = new Set(keys.flatMap((key) => parcels.get(key) ?? []));
  for (const key of keys) parcels.delete(key);
  if (!first) return { rowKeys: new Set(), keys: new Set(), storedKeys: [], scans: [] };
  for (const other of others) {
    addAll(first.keys, keysOf(other));
    first.storedKeys.push(...other.storedKeys);
    first.scans.push(...other.scans);
  }
  return first;
}

function byReceipt<Scan extends Ordered>(a: BatchParcel<Scan>, b: BatchParcel<Scan>): number {
  const [first, second] = [a, b].map(({ scans }) => scans.find(({ kind }) => kind === 'receive'));
  if (!first || !second) return Number(!first) - Number(!second);
  return compareScans(first, second);
}
