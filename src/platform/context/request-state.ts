import type { OpenTransaction } from '../db/transactions/open-transaction.js';
import type { Tx } from '../db/scope.js';
import type { NotedRateLimit } from '../limits/headers/rate-limits.js';

/**
 * What a request has written, if its size does not say: the share of its items between 0 and 1, the bytes of what it did not list, and what
 * it carries, if its body does not show it, because it is compressed.
 */
export type NotedWrites = {
  share?: number;
  furtherBytes?: number;
  carried?: { bytes: number; items: number } | undefined;
};

/**
 * What a request has done in the database so far. Its rules: one writing transaction, no read outside of it once it has
 * begun, and no transaction inside another.
 */
export type RequestState = {
  isAdmitted: boolean;
  /** Whether a transaction that runs code of a handler is open. */
  isOpen: boolean;
  hasWritten: boolean;
  /** Whether a transaction has committed that is kept if the request is refused. */
  hasKept: boolean;
  /** What the request has written, if its body does not say. */
  written: NotedWrites;
  /** Takes from the allowance of a courier what the request may write. None for jobs. */
  takeFor: ((courierId: string) => Promise<void>) | undefined;
  /** By policy. */
  rateLimits: Map<string, NotedRateLimit>;
  /** Set for a request with an Idempotency-Key. */
  hold: Hold | undefined;
};

/** Keeps the writing transaction of a request open, so that the response is stored in it (decision 0020). */
export type Hold = {
  /** Runs in the transaction before the handler's work. */
  readonly first: (tx: Tx) => Promise<void>;
  /** The transaction, once the handler's work in it is done. Whoever holds it commits it or rolls it back. */
  transaction: OpenTransaction | undefined;
};

export const newState = (): RequestState => ({
  isAdmitted: false,
  isOpen: false,
  hasWritten: false,
  hasKept: false,
  written: {},
  takeFor: undefined,
  rateLimits: new Map<string, NotedRateLimit>(),
  hold: undefined,
});

/** @throws Error if a transaction of the request is open, or its writing transaction has begun */
export function assertMayOpen(state: RequestState): void {
  // With a second connection per request, the pool starves under load, and the second waits for the first one's locks.
  if (state.isOpen) throw new Error('A transaction was opened inside another.');
  // Other transactions do not see uncommitted rows. The rule also applies without an Idempotency-Key, so that requests behave the same with and without one.
  if (state.hasWritten)
    throw new Error('A transaction was opened after the writing transaction of the request.');
}

/** Runs a transaction and forbids others until it has ended. */
export async function whileOpen<Result>(state: RequestState, run: () => Promise<Result>): Promise<Result> {
  assertMayOpen(state);
  state.isOpen = true;
  try {
    return await run();
  } finally {
    state.isOpen = false;
  }
}
