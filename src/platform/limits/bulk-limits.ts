import { setTimeout as sleep } from 'node:timers/promises';
import type { UserCaller } from '../identity/callers.js';
import { makeKeyedLimiter } from './keyed-limiter.js';
import type { Pressure } from './pressure.js';

/**
 * The limits of bulk work in one process (decision 0048). Such work uses a connection and a processor of the database for seconds.
 * Uploads have a limit of their own, because they take longest and reports would wait for them. While light requests wait, uploads
 * wait between their pieces, but never for long, so that they always make progress.
 *
 * The limits run the work as soon as the limit allows it. @throws ApiError overloaded when it could not start in time
 */
export type BulkLimits = {
  /**
   * Limits an upload of rows: one at a time per courier, because a second one would only wait for the first one's locks, with a
   * connection and its rows in memory.
   */
  limitUpload<Result>(tenantId: string, courierId: string, work: () => Promise<Result>): Promise<Result>;
  /**
   * Limits work that reads up to 100,000 rows: exports, bills as files, previews, drafts and reconciliations. One at a time for
   * all users of a courier, and for each member of the staff.
   */
  limitReport<Result>(caller: UserCaller, work: () => Promise<Result>): Promise<Result>;
  /**
   * Limits a large batch of scans: one at a time per tenant, because each holds the locks of most parcels, and all others wait
   * for each of them.
   */
  limitBatch<Result>(tenantId: string, work: () => Promise<Result>): Promise<Result>;
  /** Runs a piece of bulk work, and waits after it while light requests wait. */
  runPiece<Result>(piece: () => Promise<Result>): Promise<Result>;
};

/** The share of the connections that uploads may use. Reports may use the same. */
const SHARE = 0.2;
const QUEUE = { maxWaiting: 32, maxWaitMs: 30_000, retryAfterSeconds: 5 };

/** The longest wait after a piece, as a multiple of the time that the piece took: under pressure it has a fifth of the time. */
const MAX_PAUSE = 4;
/** An upload holds locks on its rows and a connection while it waits. */
const MAX_PAUSE_MS = 10_000;
const STEP_MS = 50;

/** @param poolSize the number of the process's connections */
export function makeBulkLimits(poolSize: number, pressure: Pick<Pressure, 'isHigh'>): BulkLimits {
  // With only one, a courier's slow report would delay all other couriers.
  const concurrency = Math.max(2, Math.floor(poolSize * SHARE));
  const uploads = makeKeyedLimiter({ concurrency, ...QUEUE });
  const reports = makeKeyedLimiter({ concurrency, ...QUEUE });
  const batches = makeKeyedLimiter({ concurrency, ...QUEUE });

  return {
    limitUpload: (tenantId, courierId, work) => uploads.run(`${tenantId} ${courierId}`, work),
    limitReport: ({ tenantId, courierId, userId }, work) =>
      reports.run(`${tenantId} ${courierId ?? userId}`, work),
    limitBatch: (tenantId, work) => batches.run(tenantId, work),
    async runPiece(piece) {
      const startedMs = performance.now();
      const result = await piece();
      const endedMs = performance.now();
      const latestMs = endedMs + Math.min(MAX_PAUSE_MS, MAX_PAUSE * (endedMs - startedMs));
      while (pressure.isHigh() && performance.now() < latestMs) await sleep(STEP_MS);
      return result;
    },
  };
}
