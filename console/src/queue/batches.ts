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
  /** Scans on which the service failed when they were alone. */
  readonly #failed = new Set<string>();

  next(queue: QueuedScan[], owner: string): Batch | undefined {
    const others = queue.filter(({ scan_id }) => !this.#failed.has(scan_id));
    const limit = this.#suspects > 0 ? Math.ceil(this.#suspects / 2) : BATCH_SIZE;
    return nextBatch(others, owner, limit) ?? nextBatch(queue, owner, 1);
  }

  succeeded({ scans }: Batch): void {
    for (const { scan_id } of scans) this.#failed.delete(scan_id);
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
    this.#failed.add(first.scan_id);
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
});
