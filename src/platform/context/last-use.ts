import { BACKGROUND } from '../audit/audit.js';
import type { Db } from '../db/database.js';
import type { Sql } from '../db/statements.js';
import type { Caller } from '../identity/callers.js';
import { makeContext, type SystemContext } from './request-context.js';

export type LastUse<Who> = {
  /** Records in memory that a credential was used. Returns at once. */
  record(caller: Who, db: Db): void;
  /** Writes the records that are due. */
  flush(): Promise<void>;
  /** Stops the timer and writes all remaining records. */
  stop(): Promise<void>;
};

/** The last use of a credential, `ageS` seconds ago. */
export type Use<Who> = { id: string; ageS: number; caller: Who };

export type UsedCredentials<Who> = {
  /** Returns undefined for a caller whose uses are not recorded. */
  idOf: (caller: Who) => string | undefined;
  /** Writes uses, and returns the ids of those that were written. */
  write: (ctx: SystemContext, uses: Use<Who>[]) => Sql<{ id: string }>;
  onError: (error: unknown) => void;
};

/**
 * Shorter than the 15 s by which enter_with_token extends the idle timeout, so that a session in use never looks
 * idle.
 */
const FLUSH_MS = 10_000;

/** Each credential is written at most once per minute. */
const WRITE_EVERY_MS = 60_000;

/** After this time the credential has ended or was deleted, and the write is not retried. */
const GIVE_UP_MS = 120_000;

/** About 10 MB of memory. Further credentials are not recorded until others have been written. */
const MAX_USED = 50_000;

const BATCH = 1_000;

type Entry<Who> = { caller: Who; db: Db; seenAtMs: number; dueAtMs: number; isPending: boolean };

/**
 * Writes when credentials were last used, in batches, outside of requests. Ages come from the monotonic clock of this
 * process and are subtracted from the database's time, so that the wall clock of this machine has no
 * influence.
 */
export function openLastUse<Who extends Pick<Caller, 'tenantId'>>({
  idOf,
  write: toStatement,
  onError,
}: UsedCredentials<Who>): LastUse<Who> {
  const entries = new Map<string, Entry<Who>>();
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();

  async function flush(isLast = false): Promise<void> {
    const nowMs = performance.now();
    const due = new Map<string, { db: Db; ids: string[] }>();
    for (const [id, entry] of entries) {
      const { db, seenAtMs, dueAtMs, isPending } = entry;
      const { tenantId } = entry.caller;
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
    const uses = ids.flatMap((id) => {
      const entry = entries.get(id);
      return entry
        ? [{ id, seenAtMs: entry.seenAtMs, caller: entry.caller, ageS: (nowMs - entry.seenAtMs) / 1000 }]
        : [];
    });
    const ctx = makeContext(db, { kind: 'system', tenantId }, BACKGROUND);
    const [rows] = await ctx.write([toStatement(ctx, uses)]);
    const written = new Set(rows.map(({ id }) => id));
    for (const { id, seenAtMs } of uses) {
      const entry = entries.get(id);
      if (!entry || !written.has(id)) continue;
      entry.dueAtMs = nowMs + WRITE_EVERY_MS;
      // It may have been used again in the meantime.
      entry.isPending = entry.seenAtMs > seenAtMs;
    }
  }

  return {
    record(caller, db) {
      const id = idOf(caller);
      if (id === undefined) return;
      const seenAtMs = performance.now();
      const entry = entries.get(id);
      if (entry) Object.assign(entry, { caller, db, seenAtMs, isPending: true });
      else if (entries.size < MAX_USED)
        entries.set(id, { caller, db, seenAtMs, dueAtMs: 0, isPending: true });
    },
    flush: () => flush(),
    async stop() {
      clearInterval(timer);
      await flush(true);
    },
  };
}
