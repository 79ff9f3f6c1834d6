// Which parcel is being corrected, and what is known of it.
import { signal } from '@preact/signals';
import { answered } from '../../queue/answers.js';
import { receivedParcels, type Received } from '../../queue/received.js';
import { corrections, queue, recent } from '../../queue/store.js';
import { api, session } from '../../session/session.js';

/** The scan of the parcel whose correction is open; null if the user has received none. Undefined if no correction is open. */
export const correcting = signal<string | null | undefined>(undefined);

/** Opens the correction of a parcel, or of the one that this user received last on this device. */
export function startCorrection(scanId = lastReceived()?.scan.scan_id ?? null): void {
  if (correcting.value === undefined) correcting.value = scanId;
}

export const endCorrection = (): void => void (correcting.value = undefined);

/** Returns the parcels of this user, the latest first. The disk may not have the latest answers yet. */
const ownParcels = (): Received[] =>
  receivedParcels(session.value?.user.id ?? '', {
    queue: queue.value,
    answers: [...answered.value, ...recent.value],
    corrections: corrections.value,
  });

/** A parcel that somebody else had received is not the last one of this user. */
export const lastReceived = (): Received | undefined =>
  ownParcels().find(({ result }) => !result || result.outcome === 'done');

export const receivedBy = (scanId: string): Received | undefined =>
  ownParcels().find(({ scan }) => scan.scan_id === scanId);

const RESOLVE_MS = 3_000;

/** Returns the weight that the service has now: somebody else may have corrected it. Undefined without an answer. */
export async function storedWeight({ result }: Received): Promise<number | undefined> {
  const { package_id: id, house_number: house } = result?.parcel ?? {};
  if (!id || !house) return undefined;
  try {
    const { data } = await api().packages.resolveScan(
      { scan: house },
      { timeoutMs: RESOLVE_MS, maxRetries: 0 },
    );
    return data.matches.packages.find(({ package_id }) => package_id === id)?.weight;
  } catch {
    // The answer to the scan says what was stored then.
    return undefined;
  }
}
