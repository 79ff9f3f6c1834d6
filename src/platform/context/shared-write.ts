import type { Db } from '../db/database.js';
import type { Scope } from '../db/scope.js';
import type { Sql } from '../db/statements.js';
import { isRefusedRow } from '../db/violations.js';
import type { SubmittingCaller } from '../identity/callers.js';
import { FULL_MS, KEPT_MS, TARGET_MS, type ControlledDelay } from '../limits/overload/controlled-delay.js';
import { overloaded } from '../limits/overload/overloaded.js';

/** `position` of an outcome is the index of its item. A blocked item was not written, because another transaction has its lock. */
export type Placed = { position: number; isCreated: boolean; isBlocked: boolean };

/**
 * Returns the statements for several items. The last one returns the outcomes, in any order.
 *
 * @param waits whether they wait for locks instead of leaving out the items that are blocked
 */
type ToStatements<Item, Outcome> = (
  scope: Scope<SubmittingCaller>,
  items: readonly Item[],
  waits: boolean,
) => [...Sql[], Sql<Outcome>];

/** A write that requests with the same API key share when they wait at the same time (decision 0066). */
export type SharedWrite<Item, Outcome extends Placed> = ReturnType<typeof sharedWrite<Item, Outcome>>;

/** Makes a shared write for `ctx.writeTogether`. Make it once, because requests share only the same one. */
export const sharedWrite = <Item, Outcome extends Placed>(toStatements: ToStatements<Item, Outcome>) => ({
  toStatements,
  /** Returns the combiner of a database: a tenant's requests are combined in the database that has its rows. */
  combinerOf: perPool((db) => {
    const { delay, addGate } = db.connectionShares;
    const combiner = makeCombiner<Item, Outcome | undefined>(MAX_RUNNING, delay);
    addGate({
      assertMayWait(caller) {
        if (caller.kind === 'key' || caller.kind === 'token') combiner.assertMayWait(combinedKeyOf(caller));
      },
    });
    return combiner;
  }),
  /** The combiner of blocked items, which wait beside the others. */
  waitingOf: perPool(() => makeCombiner<Item, Outcome | undefined>(MAX_WAITING)),
});

/**
 * The key of a combiner: requests with the same API key share a transaction, which checks the credential once. So do those with the same
 * service token from one address, because a token may be limited to addresses.
 */
export const combinedKeyOf = (caller: SubmittingCaller): string =>
  `${caller.tenantId} ${caller.keyHash}${caller.kind === 'token' ? ` ${caller.address}` : ''}`;

function perPool<Value>(make: (db: Db) => Value): (db: Db) => Value {
  const values = new WeakMap<Db['pool'], Value>();
  return (db) => {
    const value = values.get(db.pool) ?? make(db);
    values.set(db.pool, value);
    return value;
  };
}

/** Returns the outcome of each item: the row of the last statement that has its position. */
export function outcomesOf<Outcome extends Placed>(
  results: readonly unknown[],
  count: number,
): (Outcome | undefined)[] {
  // The author of the last statement states the type of its rows.
  const rows = (results.at(-1) ?? []) as Outcome[];
  const outcomes = Array.from<Outcome | undefined>({ length: count });
  for (const row of rows) outcomes[row.position] = row;
  return outcomes;
}

/** Writes all items in one transaction, or none. Returns the outcome of each, in their order. */
type WriteItems<Item, Outcome> = (items: readonly Item[]) => Promise<readonly Outcome[]>;

const MAX_ITEMS = 50;
/** After this time a transaction counts as slow, for example because it waits for a lock, and another one starts beside it. */
const SLOW_MS = 20;
/** The number of transactions per key at the same time: a courier's share of ten connections. */
const MAX_RUNNING = 4;
/** The number of transactions per key that wait for locks of blocked items, so that the others have connections. */
const MAX_WAITING = 2;
/** As long as requests wait for a connection of a caller whose transactions do not end. */
const MAX_WAIT_MS = 2_000;

type Waiting<Item, Outcome> = {
  item: Item;
  sinceMs: number;
  /** The longest that it may wait while all transactions of the key run. */
  maxWaitMs: number;
  write: WriteItems<Item, Outcome>;
  resolve(outcome: Outcome): void;
  reject(reason: unknown): void;
};

type Queue<Item, Outcome> = {
  running: number;
  startedAtMs: number;
  waiting: Waiting<Item, Outcome>[];
  /** Runs while requests wait. */
  timer: NodeJS.Timeout | undefined;
};

/**
 * Writes what several requests of one caller ask for at the same time in one transaction (decision 0066).
 *
 * No library: data loaders collect for a fixed time, which delays a request that is alone. Here a request waits only while
 * another transaction of its key is running.
 */
export function makeCombiner<Item, Outcome>(maxRunning = MAX_RUNNING, delay?: ControlledDelay) {
  const queues = new Map<string, Queue<Item, Outcome>>();

  async function start(key: string, queue: Queue<Item, Outcome>): Promise<void> {
    const together = queue.waiting.splice(0, MAX_ITEMS);
    const [first] = together;
    if (first) delay?.noteStart(key, performance.now() - first.sinceMs);
    if (queue.waiting.length === 0) delay?.noteEmpty(key);
    stopTimerOfEmpty(queue);
    queue.running += 1;
    queue.startedAtMs = performance.now();
    await writeAll(together);
    queue.running -= 1;
    if (queue.waiting.length > 0) void start(key, queue);
    else if (queue.running === 0) queues.delete(key);
  }

  function relieve(key: string, queue: Queue<Item, Outcome>): void {
    if (queue.running < maxRunning) {
      if (performance.now() - queue.startedAtMs >= SLOW_MS) void start(key, queue);
      return;
    }
    const now = performance.now();
    // The next transaction writes so many at once.
    const isShort = queue.waiting.length <= MAX_ITEMS;
    const late = takeOut(
      queue,
      ({ sinceMs, maxWaitMs }) => sinceMs + (isShort && maxWaitMs === TARGET_MS ? KEPT_MS : maxWaitMs) <= now,
    );
    if (late.some(({ maxWaitMs }) => maxWaitMs === TARGET_MS)) refuse(key, queue);
  }

  /** Notes that a new item is refused. If that has lasted, those that are older have no prospect of being written. */
  function refuse(key: string, queue: Queue<Item, Outcome>): void {
    if (delay?.noteRefusal(key)) takeOut(queue, ({ maxWaitMs }) => maxWaitMs > TARGET_MS);
  }

  function assertMayWait(key: string): void {
    const queue = queues.get(key);
    const [first] = queue?.waiting ?? [];
    if (
      !queue ||
      !first ||
      queue.waiting.length < MAX_ITEMS ||
      !delay?.mayRefuse(key) ||
      performance.now() - first.sinceMs < FULL_MS
    )
      return;
    refuse(key, queue);
    throw overloaded();
  }

  return {
    /**
     * Writes the item, together with those of other requests that wait.
     *
     * @param key items of different keys are never written together
     * @param write writes all of them if this request is the first that waits
     * @throws ApiError overloaded when writing could not start in time, or what `write` throws
     */
    async run(key: string, item: Item, write: WriteItems<Item, Outcome>): Promise<Outcome> {
      assertMayWait(key);
      return new Promise((resolve, reject) => {
        const queue = queues.get(key) ?? { running: 0, startedAtMs: 0, waiting: [], timer: undefined };
        queues.set(key, queue);
        delay?.noteArrival(key);
        const maxWaitMs = delay?.mayRefuse(key) ? TARGET_MS : MAX_WAIT_MS;
        queue.waiting.push({ item, sinceMs: performance.now(), maxWaitMs, write, resolve, reject });
        if (queue.running === 0) void start(key, queue);
        else queue.timer ??= setInterval(() => relieve(key, queue), SLOW_MS);
      });
    },
    /** @throws ApiError overloaded if an item of this key could not be written in time */
    assertMayWait,
  };
}

function stopTimerOfEmpty<Item, Outcome>(queue: Queue<Item, Outcome>): void {
  if (queue.waiting.length > 0) return;
  clearInterval(queue.timer);
  queue.timer = undefined;
}

/** Rejects the items for which `isRefused` holds, and returns them. */
function takeOut<Item, Outcome>(
  queue: Queue<Item, Outcome>,
  isRefused: (waiting: Waiting<Item, Outcome>) => boolean,
): Waiting<Item, Outcome>[] {
  const refused = queue.waiting.filter(isRefused);
  if (refused.length === 0) return refused;
  queue.waiting = queue.waiting.filter((waiting) => !isRefused(waiting));
  stopTimerOfEmpty(queue);
  for (const { reject } of refused) reject(overloaded());
  return refused;
}

/** Never rejects. If the database refuses a row, each item is written again in a transaction of its own. */
async function writeAll<Item, Outcome>(together: Waiting<Item, Outcome>[]): Promise<void> {
  try {
    const outcomes = (await together[0]?.write(together.map(({ item }) => item))) ?? [];
    if (outcomes.length !== together.length) throw new Error('A combined write returned too few outcomes.');
    for (const [index, outcome] of outcomes.entries()) together[index]?.resolve(outcome);
  } catch (error) {
    if (together.length > 1 && isRefusedRow(error)) for (const alone of together) await writeAll([alone]);
    else for (const { reject } of together) reject(error);
  }
}
