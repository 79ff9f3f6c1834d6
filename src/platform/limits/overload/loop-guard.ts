import { performance } from 'node:perf_hooks';
import type { Caller } from '../../identity/callers.js';
import { networksOf } from '../../values/network-address.js';
import { BURST } from './controlled-delay.js';
import { overloaded } from './overloaded.js';

/**
 * Limits the requests in progress while the thread of the process cannot keep up (decision 0107): then requests wait before any of
 * our code runs, and no queue of ours stands. The limit falls while the event loop is late, and grows while it is not.
 */
export type LoopGuard = {
  /**
   * Counts a request until the returned function is called. A caller that has no request in progress is always admitted.
   *
   * @param isKnown whether the credential has been checked; a key or a service token that nobody has checked may be invented
   * @throws ApiError overloaded if the caller has its share already
   */
  admit(caller: Caller, isKnown: boolean): () => void;
  /** Infinite while the thread keeps up. */
  limit(): number;
  stop(): void;
};

const SAMPLE_MS = 20;
/** A request needs about ten turns of the event loop, so that it takes about ten times as long. */
const MAX_LATE_MS = 20;
/** The weight of a new sample: an average over about half a second. */
const WEIGHT = 0.1;
/** A burst may keep the thread busy for this time. */
const PATIENCE_MS = 2_000;
const ADJUST_MS = 100;
const DECREASE = 0.8;
const INCREASE = 1.05;
/** So many requests in progress are no overload, whatever else uses the processor. */
const MIN_LIMIT = 64;
/** A limit above it limits nothing. */
const MAX_LIMIT = 2_000;

/**
 * So many blocks of networks (an IPv6 /48, an IPv4 /24) without a checked credential have a share each. Further ones share one, because
 * somebody with many addresses would otherwise never be refused.
 */
const MAX_STRANGERS = 64;
const OTHER_STRANGERS = 'strangers';

/** @param onRefused is called for each refused request */
export function watchLoop(onRefused: () => void = () => undefined): LoopGuard {
  const inProgress = new Map<string, number>();
  const strangers = new Set<string>();
  let total = 0;
  let limit = Infinity;
  let lateMs = 0;
  let lateSinceMs: number | undefined;
  let arrivedLate = 0;
  let adjustedAtMs = 0;
  let sampledAtMs = performance.now();

  function sample(): void {
    const at = performance.now();
    lateMs += WEIGHT * (Math.max(0, at - sampledAtMs - SAMPLE_MS) - lateMs);
    sampledAtMs = at;
    if (lateMs > MAX_LATE_MS) lateSinceMs ??= at;
    else {
      lateSinceMs = undefined;
      arrivedLate = 0;
    }
    if (at - adjustedAtMs >= ADJUST_MS) adjust(at);
  }

  function adjust(at: number): void {
    adjustedAtMs = at;
    const isLasting = lateSinceMs !== undefined && at - lateSinceMs >= PATIENCE_MS && arrivedLate > BURST;
    if (limit === Infinity && !isLasting) return;
    if (lateMs > MAX_LATE_MS) limit = Math.max(MIN_LIMIT, Math.min(limit, total) * DECREASE);
    else limit = limit * INCREASE + 1;
    if (limit > MAX_LIMIT) limit = Infinity;
  }

  function add(flow: string, step: 1 | -1): void {
    const sum = (inProgress.get(flow) ?? 0) + step;
    total += step;
    if (sum > 0) inProgress.set(flow, sum);
    else {
      inProgress.delete(flow);
      strangers.delete(flow);
    }
  }

  function flowOfStranger(address = ''): string {
    const flow = networksOf(address).block;
    return strangers.has(flow) || strangers.size < MAX_STRANGERS ? flow : OTHER_STRANGERS;
  }

  const timer = setInterval(sample, SAMPLE_MS);
  timer.unref();
  return {
    admit(caller, isKnown) {
      const known = flowOf(caller, isKnown);
      const flow = known ?? flowOfStranger(caller.kind === 'user' ? undefined : caller.address);
      const own = inProgress.get(flow) ?? 0;
      arrivedLate += lateSinceMs === undefined ? 0 : 1;
      if (total >= limit && own > 0 && own >= limit / inProgress.size) {
        onRefused();
        throw overloaded();
      }
      add(flow, 1);
      if (known === undefined && flow !== OTHER_STRANGERS) strangers.add(flow);
      return () => add(flow, -1);
    },
    limit: () => limit,
    stop: () => clearInterval(timer),
  };
}

/** Who shares the thread: each user, service token and API key. Undefined without a checked credential: then the client's network does. */
function flowOf(caller: Caller, isKnown: boolean): string | undefined {
  if (caller.kind === 'user') return `${caller.tenantId} ${caller.userId}`;
  return caller.kind !== 'system' && isKnown ? `${caller.tenantId} ${caller.keyHash}` : undefined;
}
