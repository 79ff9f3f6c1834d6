import type { LockKind, Locks, Sql } from '../statements.js';

/** Nearly all writes of a courier need its counter, so a transaction locks the counters when its other work is done. */
const COUNTERS = 'event counters';

/**
 * The kinds of locks, in the order in which a transaction takes them. Two transactions that take two kinds in opposite orders
 * deadlock (decision 0086). All are advisory locks, except the rows of the couriers' event counters. The locks of the tallies' slots are
 * not among them: the triggers that take them never wait (decision 0113).
 */
const ORDER: readonly LockKind[] = [
  'administrators',
  'security settings',
  'tenant settings',
  'payment terms',
  'service tokens',
  'warehouses',
  'rates',
  'reset mails',
  'print',
  'label station',
  'uploads',
  'batches',
  'user codes',
  'corrections',
  'parcels',
  'audit chain',
  COUNTERS,
];

/** The names that a transaction holds of each kind, and whether it shares them. */
type Held = Map<LockKind, Map<string, 'shared' | 'exclusive'>>;

type Checked = Pick<Sql, 'text' | 'locks'>;

/**
 * Checks that a transaction takes its locks in the order that prevents deadlocks:
 * - The kinds in the order of ORDER.
 * - All names of a kind in one statement, which sorts them. A lock that is held already may be taken again.
 * - No lock that is held in shared mode is taken in exclusive mode.
 * - The counters last. After them only statements of `tx.last` may follow: another statement could wait for a row, and all other writes
 *   of these couriers would wait with it for their counter.
 */
export function makeLockOrder() {
  let held: Held = new Map();
  const savepoints = new Map<string, Held>();

  function take({ kind, names, isShared }: Locks): void {
    const own = held.get(kind);
    const missing = names.filter((name) => !isHeld(own?.get(name), isShared));
    if (missing.length === 0) return;
    const later = [...held.keys()].find((other) => ORDER.indexOf(other) >= ORDER.indexOf(kind));
    if (later !== undefined) throw new Error(describe(kind, later));
    held.set(kind, new Map(names.map((name) => [name, isShared ? 'shared' : 'exclusive'])));
  }

  function checkLast({ text, locks }: Checked): void {
    if (WRITES_COUNTERS.test(text) && !locks?.some(({ kind }) => kind === COUNTERS)) throw new Error(UNNAMED);
    locks?.forEach(take);
  }

  return {
    /** Call it with each statement that is sent when the work is done. It may follow the counters. */
    checkLast,
    /** Call it with each statement of the work, in their order. @throws Error if it takes a lock too late, or comes after the last one */
    check(statement: Checked): void {
      if (held.has(COUNTERS)) throw new Error(AFTER_COUNTERS);
      const [, rollback, name] = SAVEPOINT.exec(statement.text) ?? [];
      if (name !== undefined && rollback === undefined) savepoints.set(name, new Map(held));
      // It also releases the locks that were taken since.
      if (name !== undefined && rollback !== undefined) held = new Map(savepoints.get(name));
      checkLast(statement);
    },
  };
}

const SAVEPOINT = /^\s*(rollback to )?savepoint (\w+)/i;

const WRITES_COUNTERS = /\b(?:into|update)\s+(?:"?public"?\.)?"?event_counters\b/i;

const UNNAMED =
  'A statement that writes event_counters must name the couriers with countingEvents of locks.ts.';

const AFTER_COUNTERS =
  'A transaction that has locked event counters must not go on working, because it may deadlock. Use tx.last.';

const isHeld = (mode: 'shared' | 'exclusive' | undefined, isShared: boolean): boolean =>
  mode === 'exclusive' || (mode === 'shared' && isShared);

const describe = (kind: LockKind, later: LockKind): string =>
  `A transaction that holds locks of ${later} must not take one of ${kind}, because it may deadlock. ` +
  'Take all locks of a kind in one statement, and the kinds in the order of lock-order.ts.';
