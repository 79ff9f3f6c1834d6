import { setTimeout as sleep } from 'node:timers/promises';
import type { SubmittingCaller, UserCaller } from '../identity/callers.js';
import { placeOfTeam, type GiveWay } from './queues/keyed-limiter.js';
import { TENANT_SHARE } from './shared/amounts.js';
import { makeOwnLimits } from './shared/shared-limits.js';
import type { Pressure } from './pressure.js';

/**
 * The limits of bulk work in one server (decision 0048). Such work uses a connection and a processor of the database for seconds.
 * Uploads have a limit of their own, because they take longest and reports would wait for them. While light requests wait, uploads
 * wait between their pieces, but never for long, so that they always make progress.
 *
 * The limits run the work as soon as the limit allows it. @throws ApiError overloaded when it could not start in time
 */
export type BulkLimits = {
  /**
   * Limits an upload of rows: one at a time per courier, because a second one would only wait for the first one's locks, with a
   * connection and its rows in memory. Users take turns.
   */
  limitUpload<Result>(caller: UserCaller, courierId: string, work: () => Promise<Result>): Promise<Result>;
  /**
   * Limits work that reads up to 100,000 rows: exports, bills as files, previews, drafts, reconciliations and large pages of packages. One
   * at a time for all users of a courier, who take turns, and for each member of the staff.
   */
  limitReport<Result>(caller: UserCaller, work: () => Promise<Result>): Promise<Result>;
  /**
   * Limits a list that is searched by a part of a text. It takes the database long if much matches, although its page is short. One at a
   * time for all users of a courier, who take turns, and for each member of the staff, so that the stations of a warehouse have
   * connections and processors however much one of its users searches. A list without such a text is not limited.
   */
  limitSearch<Result>(caller: UserCaller, isSearch: boolean, work: () => Promise<Result>): Promise<Result>;
  /**
   * Limits changes of users of a team, because all of a tenant wait for one lock, each with a connection. One at a time for all owners
   * of a courier, who take turns, and for each member of the staff.
   */
  limitTeam<Result>(caller: UserCaller, work: () => Promise<Result>): Promise<Result>;
  /**
   * Limits a step of reading a body of lines, which needs no connection: one body at a time per API key, because all loops of the process
   * share its time. Each step has a queue of its own, so that a body that is parsed is read before the next one has been parsed.
   */
  limitLines<Result>(caller: SubmittingCaller, step: LineStep, work: () => Promise<Result>): Promise<Result>;
  /**
   * Limits a batch of scans: per tenant one small and one large batch at a time, because two of a size nearly always wait for each
   * other's parcels, with a connection each that others miss. A small one never waits for a large one. A single scan is not limited.
   * Users take turns, also between the pieces of a batch. See decisions 0096 and 0098.
   */
  limitBatch<Result>(
    caller: UserCaller,
    scans: number,
    work: (giveWay: GiveWay) => Promise<Result>,
  ): Promise<Result>;
  /** Runs a piece of bulk work, and waits after it while light requests wait. */
  runPiece<Result>(piece: () => Promise<Result>): Promise<Result>;
};

/** A body is parsed and validated, and then its numbers are read. */
export type LineStep = 'parse' | 'read';

/** The share of the connections that uploads may use. Reports may use the same. */
const SHARE = 0.2;
const QUEUE = { maxWaiting: 32, maxWaitMs: 30_000, retryAfterSeconds: 5 };
/** For work that ends within a second or a part of it, and of which a courier or the stations of a warehouse may send much at once. */
const LONG_QUEUE = { ...QUEUE, maxWaiting: 128 };

/** A search of a number ends within milliseconds, and the system of a courier may send hundreds at once. */
const MAX_SEARCHES = 1_000;

/** Stations send what was scanned in some seconds. */
const MAX_SMALL_BATCH = 10;

/** The longest wait after a piece, as a multiple of the time that the piece took: under pressure it has a fifth of the time. */
const MAX_PAUSE = 4;
/** An upload holds locks on its rows and a connection while it waits. */
const MAX_PAUSE_MS = 10_000;
const STEP_MS = 50;

/** @param poolSize the number of the server's connections */
export function makeBulkLimits(
  poolSize: number,
  pressure: Pick<Pressure, 'isHigh'>,
  limits = makeOwnLimits(),
): BulkLimits {
  const concurrency = Math.max(3, Math.floor(poolSize * SHARE));
  // Some are for other tenants. With only one for a tenant, a courier's slow report would delay all its other couriers.
  const shared = {
    concurrency,
    perTenant: Math.min(concurrency - 1, Math.floor(concurrency * TENANT_SHARE)),
  };
  const uploads = limits.keyedLimiter('uploads', { ...shared, ...QUEUE });
  const reports = limits.keyedLimiter('reports', { ...shared, ...QUEUE });
  const searches = limits.keyedLimiter('searches', { ...shared, ...QUEUE, maxWaiting: MAX_SEARCHES });
  const teams = limits.keyedLimiter('teams', { ...shared, ...QUEUE });
  const lines = {
    parse: limits.keyedLimiter('parsed lines', { ...shared, ...LONG_QUEUE }),
    read: limits.keyedLimiter('read lines', { ...shared, ...LONG_QUEUE }),
  };
  const smallBatches = limits.keyedLimiter('small batches', {
    concurrency: Math.max(2, Math.floor(poolSize / 2)),
    ...LONG_QUEUE,
  });
  const largeBatches = limits.keyedLimiter('large batches', { concurrency, ...LONG_QUEUE });

  return {
    limitUpload: (caller, courierId, work) => {
      const { tenantId: tenant, userId } = caller;
      // The staff name the courier, so that one of them could fill the queue with a file for each.
      const networks = placeOfTeam(caller);
      return uploads.run(`${tenant} ${courierId}`, work, { tenant, networks, caller: userId });
    },
    limitReport: ({ tenantId, courierId, userId }, work) =>
      reports.run(`${tenantId} ${courierId ?? userId}`, work, { tenant: tenantId, caller: userId }),
    limitSearch({ tenantId, courierId, userId }, isSearch, work) {
      if (!isSearch) return work();
      return searches.run(`${tenantId} ${courierId ?? userId}`, work, { tenant: tenantId, caller: userId });
    },
    limitTeam: ({ tenantId, courierId, userId }, work) =>
      teams.run(`${tenantId} ${courierId ?? userId}`, work, { tenant: tenantId, caller: userId }),
    limitLines: (caller, step, work) =>
      lines[step].run(`${caller.tenantId} ${holderOfLines(caller)}`, work, { tenant: caller.tenantId }),
    limitBatch({ tenantId, userId }, scans, work) {
      if (scans <= 1) return work(() => Promise.resolve());
      return (scans <= MAX_SMALL_BATCH ? smallBatches : largeBatches).run(tenantId, work, { caller: userId });
    },
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

/** All service tokens of a courier share a line. */
const holderOfLines = (caller: SubmittingCaller): string =>
  caller.kind === 'key' ? caller.keyHash : (caller.courierId ?? caller.tokenId);
