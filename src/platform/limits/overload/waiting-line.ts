import { makeTurns } from '../queues/turns.js';
import { FULL_MS, KEPT_MS, TARGET_MS, type ControlledDelay } from './controlled-delay.js';
import { overloaded } from './overloaded.js';

/** What waits under one key. Its owners, users and API keys, take turns. */
export type WaitingLine<Work> = {
  size(): number;
  /** Returns the work whose turn it is. */
  first(): Work | undefined;
  startFirst(): void;
  /** @throws ApiError overloaded if it could not start in time */
  wait(arrival: Arrival<Work>): Promise<void>;
  /** Refuses a request that would not start in time, before it costs anything. @throws ApiError overloaded */
  assertMayWait(owner: string): void;
  /** A transaction of the key has ended in a way that shows that the database works. */
  noteProgress(): void;
};

export type Arrival<Work> = {
  work: Work;
  owner: string;
  /** Whether the request has had a transaction already. To refuse it now would waste that. */
  isContinued: boolean;
};

export type WaitingLineOptions = {
  key: string;
  /** Without it, nothing is refused because the queue stands: jobs wait as long as they must. */
  delay: ControlledDelay | undefined;
  /**
   * So many of an owner's requests wait for longer. Otherwise nobody would wait when connections become free, if each is used for
   * longer than the target.
   */
  kept: number;
};

/** Rejects what waits if none of the caller's transactions has ended for this time, as when all wait for a lock. */
const STALLED_MS = 2_000;
/** Together with a second transaction of the same request, the wait is within the 30 seconds that clients wait. */
const MAX_WAIT_MS = 14_000;
/** Bounds the memory of waiting requests. */
const MAX_WAITING = 1_000;

type Waiter<Work> = {
  work: Work;
  owner: string;
  sinceMs: number;
  /**
   * `old` has arrived before the queue stood. It comes last, and may wait longest. `burst` has arrived since, when no more had arrived
   * than a burst has. It may wait as long.
   */
  kind: 'old' | 'burst' | 'new' | 'continued';
  start(): void;
  reject(): void;
};

/** The key of an owner's requests for `ControlledDelay`. */
export const flowKey = (key: string, owner: string): string => `${key} ${owner}`;

export function makeWaitingLine<Work>({ key, delay, kept }: WaitingLineOptions): WaitingLine<Work> {
  const waiters = makeTurns<Waiter<Work>>();
  // Each owner's own: those that send little start in time however long the queue of another is.
  const flowOf = (owner: string) => flowKey(key, owner);
  let progressAtMs = 0;

  /** Makes room in a full line: the newest of the owner with the most waits no longer. Returns whether there is room. */
  function makeRoom(owner: string): boolean {
    if (waiters.size() < MAX_WAITING) return true;
    const most = waiters.longest();
    if (most.length <= waiters.countOf(owner) + 1) return false;
    most.at(-1)?.reject();
    return true;
  }

  const countNew = (owner: string) => waiters.itemsOf(owner).filter(({ kind }) => kind === 'new').length;

  function isFull(owner: string): boolean {
    if (!delay?.isStanding(flowOf(owner))) return false;
    const [next] = waiters.itemsOf(owner);
    return next?.kind === 'new' && performance.now() - next.sinceMs >= FULL_MS && countNew(owner) >= kept;
  }

  /** Notes that a new request is refused. If that has lasted, those that are older have no prospect of a turn. */
  function refuse(owner: string): void {
    if (!delay?.noteRefusal(flowOf(owner))) return;
    for (const waiter of waiters.itemsOf(owner)) if (waiter.kind === 'old') waiter.reject();
  }

  function assertMayWait(owner: string): void {
    if (!isFull(owner)) return;
    refuse(owner);
    throw overloaded();
  }

  const mayStay = (owner: string, { sinceMs }: Waiter<Work>) =>
    countNew(owner) <= kept && performance.now() - sinceMs < KEPT_MS;

  function kindOf(owner: string, isContinued: boolean): Waiter<Work>['kind'] {
    if (isContinued) return 'continued';
    const flow = flowOf(owner);
    delay?.noteArrival(flow);
    if (!delay?.isStanding(flow)) return 'old';
    return delay.mayRefuse(flow) ? 'new' : 'burst';
  }

  /** Returns how much longer it may wait. A fixed time would reject the last of many that are served one after the other. */
  function remainingMs({ kind, sinceMs }: Pick<Waiter<Work>, 'kind' | 'sinceMs'>): number {
    if (kind === 'new') return sinceMs + TARGET_MS - performance.now();
    return Math.min(Math.max(sinceMs, progressAtMs) + STALLED_MS, sinceMs + MAX_WAIT_MS) - performance.now();
  }

  return {
    size: () => waiters.size(),
    first: () => waiters.first()?.work,
    startFirst() {
      const waiter = waiters.takeFirst();
      if (!waiter) return;
      // Continued requests come first, so that their waits say nothing about the queue.
      const { owner, kind, sinceMs } = waiter;
      if (kind !== 'continued') delay?.noteStart(flowOf(owner), performance.now() - sinceMs);
      if (waiters.countOf(owner) === 0) delay?.noteEmpty(flowOf(owner));
      waiter.start();
    },
    async wait({ work, owner, isContinued }) {
      if (!isContinued) assertMayWait(owner);
      if (!makeRoom(owner)) throw overloaded();
      await new Promise<void>((resolve, reject) => {
        const rejectIfLate = (): void => {
          const leftMs = remainingMs(waiter);
          if (leftMs > 0) timer = setTimeout(rejectIfLate, leftMs);
          else if (waiter.kind === 'new' && mayStay(owner, waiter))
            timer = setTimeout(rejectIfLate, TARGET_MS);
          else {
            waiter.reject();
            if (waiter.kind === 'new') refuse(owner);
          }
        };
        const waiter: Waiter<Work> = {
          ...{ work, owner, sinceMs: performance.now(), kind: kindOf(owner, isContinued) },
          start() {
            clearTimeout(timer);
            resolve();
          },
          reject() {
            clearTimeout(timer);
            waiters.remove(owner, waiter);
            reject(overloaded());
          },
        };
        let timer = setTimeout(rejectIfLate, remainingMs(waiter));
        waiters.add(owner, waiter, waiter.kind === 'old' ? undefined : ({ kind }) => kind === 'old');
      });
    },
    assertMayWait,
    noteProgress() {
      progressAtMs = performance.now();
    },
  };
}
