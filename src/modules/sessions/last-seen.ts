import { BACKGROUND } from '../../platform/audit/audit.js';
import { makeContext } from '../../platform/context/request-context.js';
import type { Db } from '../../platform/db/database.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import { writeLastSeen } from './queries.js';

export type LastSeen = {
  /** Records in memory that a session was used. Returns at once. */
  record(caller: Pick<UserCaller, 'tenantId' | 'sessionId'>, db: Db): void;
  /** Writes the records that are due. */
  flush(): Promise<void>;
  /** Stops the timer and writes all remaining records. */
  stop(): Promise<void>;
};

/**
 * Shorter than the 15 s by which enter_with_token extends the idle timeout, so that a session in use never looks
 * idle.
 */
const FLUSH_MS = 10_000;

/** Each session is written at most once per minute. */
const WRITE_EVERY_MS = 60_000;

/** After this time the session has ended or was deleted, and the write is not retried. */
const GIVE_UP_MS = 120_000;

/** About 10 MB of memory. Further sessions are not recorded until others have been written. */
const MAX_SESSIONS = 50_000;

const BATCH = 1_000;

type Entry = { tenantId: string; db: Db; seenAtMs: number; dueAtMs: number; isPending: boolean };

/**
 * Writes sessions.last_seen_at in batches, outside of requests. Ages come from the monotonic clock of this
 * process and are subtracted from the database's time, so that the wall clock of this machine has no
 * influence.
 */
export function openLastSeen(onError: (error: unknown) => void): LastSeen {
  const entries = new Map<string, Entry>();
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();

  async function flush(isLast = false): Promise<void> {
    const nowMs = performance.now();
    const due = new Map<string, { db: Db; ids: string[] }>();
    for (const [id, entry] of entries) {
      const { tenantId, db, seenAtMs, dueAtMs, isPending } = entry;
      if (nowMs - seenAtMs > GIVE_UP_MS || (!isPending && nowMs >= dueAtMs)) entries.delete(id);
      else if (isPending && (isLast || nowMs >= dueAtMs)) {
        const ofTenant = due.get(tenantId) ?? { db, ids: [] };
        ofTenant.db = db;
        ofTenant.ids.push(id);
        due.set(tenantId, ofTenant);
      }
    }
    for (const [tenantId, { db, ids }] of due)
      for (let start = 0; start < ids.length; start += BATCH)
        await write(db, tenantId, ids.slice(start, start + BATCH)).catch(onError);
  }

  async function write(db: Db, tenantId: string, ids: string[]): Promise<void> {
    const nowMs = performance.now();
    const seen = ids.map((id) => ({ id, seenAtMs: entries.get(id)?.seenAtMs ?? nowMs }));
    const ages = seen.map(({ id, seenAtMs }) => ({ id, ageS: (nowMs - seenAtMs) / 1000 }));
    const ctx = makeContext(db, { kind: 'system', tenantId }, BACKGROUND);
    const [rows] = await ctx.write([writeLastSeen(ctx, ages)]);
    const written = new Set(rows.map(({ id }) => id));
    for (const { id, seenAtMs } of seen) {
      const entry = entries.get(id);
      if (!entry || !written.has(id)) continue;
      entry.dueAtMs = nowMs + WRITE_EVERY_MS;
      // The session may have been used again in the meantime.
      entry.isPending = entry.seenAtMs > seenAtMs;
    }
  }

  return {
    record({ tenantId, sessionId }, db) {
      if (sessionId === undefined) return;
      const seenAtMs = performance.now();
      const entry = entries.get(sessionId);
      if (entry) Object.assign(entry, { db, seenAtMs, isPending: true });
      else if (entries.size < MAX_SESSIONS)
        entries.set(sessionId, { tenantId, db, seenAtMs, dueAtMs: 0, isPending: true });
    },
    flush: () => flush(),
    async stop() {
      clearInterval(timer);
      await flush(true);
    },
  };
}
