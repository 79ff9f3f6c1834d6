import { BATCH_SIZE, nextBatch, type Batch, type QueuedScan, type ScanResult } from './scans.js';

/** The service's answer to a batch that it did not execute. */
export type Rejection = { status: number; message: string; errors: ScanResult['errors'] };

/** What the sender does after a batch was not executed. */
export type Failure =
  /** Sends fewer scans at once, to find the one that the service cannot take. */
  | { action: 'split' }
  /** Shows the scan to a person, with the service's reason. */
  | { action: 'setAside'; result: ScanResult }
  /** Tries again after a pause. */
  | { action: 'wait' };

/** The service refuses the request as it is, and would refuse it again. */
const REFUSALS = new Set([400, 413, 422]);
/** An error of the service, which one scan of the batch may cause. */
const FAULT = 500;

/**
 * Decides which scans go out together. One scan with which the service cannot deal must not stop the others: the batch is
 * halved until the scan is alone. Then it is set aside if the service refuses it, or sent after all others if the service
 * fails on it.
 */
export class Batches {
  /** The oldest so many scans contain one with which the service cannot deal. 0 if nothing is known. */
  #suspects = 0;
  /** Scans that had no result when they were sent. They go out alone, after all others, the one that waited longest first. */
  readonly #postponed = new Set<string>();

  next(queue: QueuedScan[], owner: string): Batch | undefined {
    const others = queue.filter(({ scan_id }) => !this.#postponed.has(scan_id));
    const limit = this.#suspects > 0 ? Math.ceil(this.#suspects / 2) : BATCH_SIZE;
    return nextBatch(others, owner, limit) ?? this.#nextPostponed(queue, owner);
  }

  #nextPostponed(queue: QueuedScan[], owner: string): Batch | undefined {
    for (const id of this.#postponed) {
      const batch = nextBatch(
        queue.filter(({ scan_id }) => scan_id === id),
        owner,
      );
      if (batch) return batch;
    }
    return undefined;
  }

  /** Lets all other scans go first. */
  postpone(scans: QueuedScan[]): void {
    for (const { scan_id } of scans) {
      this.#postponed.delete(scan_id);
      this.#postponed.add(scan_id);
    }
  }

  succeeded({ scans }: Batch): void {
    for (const { scan_id } of scans) this.#postponed.delete(scan_id);
    this.#suspects = Math.max(0, this.#suspects - scans.length);
  }

  /** Without a rejection, there was no answer. */
  failed({ scans: [first, ...others] }: Batch, rejection: Rejection | undefined): Failure {
    const isFault = rejection?.status === FAULT;
    if (!first || !rejection || !(isFault || REFUSALS.has(rejection.status))) return { action: 'wait' };
    if (others.length > 0) {
      this.#suspects = others.length + 1;
      return { action: isFault ? 'wait' : 'split' };
    }
    this.#suspects = 0;
    if (!isFault) return { action: 'setAside', result: refusalOf(first, rejection) };
    this.postpone([first]);
    return { action: 'wait' };
  }
}

/** Returns the refusal of a whole request as that of its only scan. */
const refusalOf = ({ scan_id }: QueuedScan, { message, errors }: Rejection): ScanResult => ({
  scan_id,
  result: 'refused',
  outcome: null,
  reason: 'invalid',
  message: errors[0]?.message ?? message,
  errors,
  parcel: null,
  other_receipt: null,
});

export type Answer = { scan: QueuedScan; result: ScanResult };

/**
 * Pairs the scans of a batch with the results of a response, by id. A result without an id belongs to the scan in its place, because
 * the service answers in the order of the scans. `unanswered` scans have no result.
 * @param results of a response with status 200, which may also come from something else than the service
 */
export function pairResults(
  scans: QueuedScan[],
  results: unknown,
): { answers: Answer[]; unanswered: QueuedScan[] } {
  // Whatever it is, only objects are read.
  const list: unknown[] = Array.isArray(results) ? results : [];
  const objects = list.map((each) =>
    typeof each === 'object' && each !== null ? (each as ScanResult) : undefined,
  );
  const byId = new Map(objects.map((result) => [result?.scan_id, result]));
  const pairs = scans.map((scan, place) => {
    const inPlace = list.length === scans.length ? objects[place] : undefined;
    const result = byId.get(scan.scan_id) ?? (inPlace?.scan_id === null ? inPlace : undefined);
    return { scan, result };
  });
  return {
    answers: pairs.flatMap(({ scan, result }) => (result ? [{ scan, result }] : [])),
    unanswered: pairs.filter(({ result }) => !result).map(({ scan }) => scan),
  };
}
