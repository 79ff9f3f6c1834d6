import { pauseWhenDue } from '../../platform/concurrency/pause-when-due.js';
import { BACKGROUND } from '../../platform/audit/audit.js';
import { makeContext } from '../../platform/context/request-context.js';
import type { Db } from '../../platform/db/database.js';
import { isFailure, type Call } from '../../platform/identity/call.js';
import { sqlStateOf } from '../../platform/db/violations.js';
import { insertCalls, type SentCall } from './insert-calls.js';
import { makeLostCalls } from './lost-calls.js';
import { parcelKeysOf } from './parcel-keys.js';

export type CallLog = {
  /** Keeps a call in memory until it is written. Returns at once. */
  record(call: Call, tenantId: string, db: Db): void;
  /** Writes the calls. */
  flush(): Promise<void>;
  /** Stops the timer, and writes the rest once. What cannot be written then is lost. */
  stop(): Promise<void>;
};

export type CallLogOptions = {
  /** How long calls are kept. */
  days: number;
  /** The share of the successful calls that is kept. Failures are kept whatever it is. */
  percent: number;
  onError: (error: unknown) => void;
  /** Called with the number of calls that were not written: the memory for them was full, or the database was away for too long. */
  onLost: (count: number) => void;
};

const FLUSH_MS = 1_000;
/** A statement writes so many calls, or fewer that name many parcels. */
const ROWS_PER_WRITE = 2_000;
const CALLS_PER_WRITE = 500;
/** The calls and the parcels that they name which are kept in memory: about 5 MB. */
const MAX_ROWS = 20_000;
/** From here on a courier holds no more parcels than its share, and its further calls are kept without those that they name. */
const FULL_ROWS = MAX_ROWS / 2;
const SHARE_ROWS = MAX_ROWS / 10;
/** Calls whose key or token this process has not seen admitted. Anybody can invent them, so they must not displace others. */
const MAX_UNPROVEN = 100;
/** What could not be written for so long is lost. */
const GIVE_UP_MS = 60_000;

/** The classes of errors that a row causes: data exceptions and violated constraints. */
const REFUSED = /^2[23]/;

type Pending = { call: Call; tenantId: string; db: Db };

/**
 * The log of calls. Requests only add to a list in memory, and a timer writes it in batches: no request waits for the log, and none fails
 * if it cannot be written. Each process has a list of its own.
 */
export function openCallLog({ days, percent, onError, onLost }: CallLogOptions): CallLog {
  let pending: Pending[] = [];
  let rows = 0;
  let unproven = 0;
  /** By courier. */
  let rowsOf = new Map<string, number>();
  const lost = makeLostCalls();
  let writing: Promise<void> | undefined;
  // A timer that comes while the list is being written does nothing.
  const timer = setInterval(() => void (writing ?? flush()), FLUSH_MS).unref();

  function add(given: Pending): void {
    const { courierId } = given.call.credential;
    const own = rowsOf.get(courierId ?? '') ?? 0;
    const isOverShare = rows > FULL_ROWS && own + sizeOf(given.call) > SHARE_ROWS;
    const each = isOverShare ? { ...given, call: { ...given.call, named: [] } } : given;
    const size = sizeOf(each.call);
    const isUnproven = courierId === undefined;
    if (rows + size > MAX_ROWS || (isUnproven && unproven >= MAX_UNPROVEN)) {
      lose([each]);
      return;
    }
    pending.push(each);
    rows += size;
    rowsOf.set(courierId ?? '', own + size);
    if (isUnproven) unproven += 1;
  }

  function lose(calls: Pending[]): void {
    if (calls.length > 0) onLost(calls.length);
    for (const each of calls) lost.add(each);
  }

  /** Also writes the calls that were added while others were being written. */
  async function flush(): Promise<void> {
    while (writing) await writing;
    writing = writePending(false).finally(() => {
      writing = undefined;
    });
    await writing;
  }

  async function writePending(isLast: boolean): Promise<void> {
    const due = pending;
    pending = [];
    rows = 0;
    unproven = 0;
    rowsOf = new Map();
    for (const batch of batchesOf(due)) await writeOrKeep(batch, isLast);
    await lost.write(onError);
  }

  /** A call that the database refuses is lost alone: its batch is halved until it is found. */
  async function writeOrKeep(batch: Pending[], isLast: boolean): Promise<void> {
    try {
      await write(batch);
    } catch (error) {
      const isRefused = REFUSED.test(sqlStateOf(error) ?? '');
      if (!isRefused || batch.length === 1) onError(error);
      if (!isRefused) keepForLater(batch, isLast);
      else if (batch.length === 1) lose(batch);
      else {
        const middle = Math.ceil(batch.length / 2);
        for (const half of [batch.slice(0, middle), batch.slice(middle)]) await writeOrKeep(half, isLast);
      }
    }
  }

  function keepForLater(batch: Pending[], isLast: boolean): void {
    const since = performance.now() - GIVE_UP_MS;
    const isKept = ({ call }: Pending) => !isLast && call.startedMs + call.durationMs >= since;
    lose(batch.filter((each) => !isKept(each)));
    for (const each of batch.filter(isKept)) add(each);
  }

  async function write(batch: Pending[]): Promise<void> {
    const [first] = batch;
    if (!first) return;
    const calls: SentCall[] = [];
    for (const { call } of batch) calls.push(await toSent(call));
    const ctx = makeContext(first.db, { kind: 'system', tenantId: first.tenantId }, BACKGROUND);
    await ctx.write([insertCalls(ctx, calls, days)]);
  }

  return {
    record(call, tenantId, db) {
      if (!isFailure(call) && Math.random() * 100 >= percent) return;
      add({ call, tenantId, db });
    },
    flush,
    async stop() {
      clearInterval(timer);
      while (writing) await writing;
      await writePending(true);
    },
  };
}

const sizeOf = ({ named }: Call): number => 1 + named.length;

/** Returns the calls of each tenant, in batches. */
function* batchesOf(due: Pending[]): Generator<Pending[]> {
  const open = new Map<string, { batch: Pending[]; rows: number }>();
  for (const each of due) {
    const own = open.get(each.tenantId) ?? { batch: [], rows: 0 };
    open.set(each.tenantId, own);
    own.batch.push(each);
    own.rows += sizeOf(each.call);
    if (own.rows < ROWS_PER_WRITE && own.batch.length < CALLS_PER_WRITE) continue;
    open.delete(each.tenantId);
    yield own.batch;
  }
  for (const { batch } of open.values()) yield batch;
}

async function toSent(call: Call): Promise<SentCall> {
  const { credential } = call;
  const parcels = new Set<string>();
  for (const text of call.named) {
    await pauseWhenDue();
    for (const key of parcelKeysOf(text)) parcels.add(key);
  }
  return {
    request_id: call.requestId,
    courier_id: credential.courierId ?? null,
    key_hash: credential.keyHash,
    age_ms: performance.now() - call.startedMs,
    operation_id: call.operationId,
    status: call.status,
    code: call.code,
    refused: call.refused.length > 0 ? call.refused : null,
    duration_ms: Math.round(call.durationMs),
    credential: credential.kind,
    credential_id: credential.id,
    credential_hint: credential.hint,
    is_replayed: call.isReplayed,
    parcels: [...parcels],
  };
}
