// The parcel on the scale. It is kept here and in the storage of the tab, so that no page change, dialog, login or reload drops it.
import { computed, effect, signal } from '@preact/signals';
import type { ScanResolution } from '../../../sdk/typescript/src/index.js';
import type { QueuedScan } from '../queue/scans.js';
import { handOverScan } from '../session/locked-scans.js';
import { session } from '../session/session.js';
import type { Customer } from '../staff/customer-search.js';
import { NO_MEASURES, type Doubt, type MeasureName, type Measures } from '../staff/parcel.js';

/** Without a resolution, the service has not answered yet, or cannot be reached. */
export type Parcel = { scan: string; resolution?: ScanResolution; customer?: Customer };

export type Work = {
  /** The user who works on it. Nobody else sees it. */
  owner: string;
  parcel?: Parcel;
  measures: Measures;
  wrong: MeasureName[];
  /** The question about the weight that the person has not answered. */
  doubt?: Doubt;
  /** Whether the parcel is to be held when it is stored. */
  isHeld?: boolean;
  /** The scan that came before the weight. Scanning it again at once is no repetition. */
  postponed?: string;
  /**
   * Another number, scanned before the parcel had its weight; empty if it could not be read. Until the person has chosen one, no weight is
   * taken.
   */
  second?: string | undefined;
  /** Numbers that were scanned and are not received. */
  unreceived: string[];
  /** Scans that are being written to the queue. */
  saving: QueuedScan[];
};

const NAME = 'crossdock-work';
const NOTHING: Work = { owner: '', measures: NO_MEASURES, wrong: [], unreceived: [], saving: [] };

const stored = signal<Work>(read());

/** The work of the user that is logged in. */
export const work = computed(() => {
  const owner = session.value?.user.id ?? '';
  return stored.value.owner === owner ? stored.value : { ...NOTHING, owner };
});

/** Whether a parcel would be lost if the user went away. A received one is stored already, and a manifest is none. */
export const hasParcelInWork = computed(() => {
  const { parcel } = work.value;
  return parcel !== undefined && canBeReceived(parcel);
});

/** Whether the scan can be a parcel: not a manifest, not a customer, and not two codes at once. */
export const isOneParcel = ({ kind }: ScanResolution): boolean =>
  kind !== 'manifest' && kind !== 'customer' && kind !== 'several_numbers';

/** Whether the text is the number of a manifest, as far as that can be seen without the service. */
export const isManifestNumber = (scan: string): boolean =>
  /^MAN-\d{8}-[A-Z0-9]{4}$/i.test(scan.replace(/^\][A-Za-z]\d|\*/g, '').trim());

/** Whether the parcel can be received: no package has it yet, and it is a parcel as far as that is known. */
export const canBeReceived = ({ scan, resolution }: Parcel): boolean =>
  resolution ? resolution.matches.packages.length === 0 && isOneParcel(resolution) : !isManifestNumber(scan);

/** The numbers that were scanned in this tab and are not received, of any user. */
export const unreceivedNumbers = computed(() => {
  const { parcel, second, unreceived } = stored.value;
  const waiting = parcel && canBeReceived(parcel) ? [parcel.scan] : [];
  // The second one is empty if it could not be read.
  return [...waiting, ...(second ? [second] : []), ...unreceived];
});

/** Replaces what is stored. The numbers that somebody else has left there are shown to this user. */
function store(next: Work): void {
  const { owner } = stored.value;
  const left = unreceivedNumbers.value;
  stored.value = next;
  if (owner !== next.owner) for (const number of left) handOverScan(number);
}

export const changeWork = (changes: Partial<Work>): void => store({ ...work.value, ...changes });

/** Removes the parcel. What is being saved stays, and what was not received. */
export function clearParcel(): void {
  const { owner, saving, unreceived } = work.value;
  store({ ...NOTHING, owner, saving, unreceived });
}

effect(() => {
  const { parcel, saving, unreceived } = stored.value;
  if (!parcel && saving.length + unreceived.length === 0) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, JSON.stringify(stored.value));
});

function read(): Work {
  try {
    // This page wrote it.
    return { ...NOTHING, ...(JSON.parse(sessionStorage.getItem(NAME) ?? '{}') as Partial<Work>) };
  } catch {
    return NOTHING;
  }
}
