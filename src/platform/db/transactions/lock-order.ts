import type { LockKind, Locks, Sql } from '../statements.js';

/**
 * The kinds of advisory locks, in the order in which a transaction takes them. Two transactions that take two kinds in opposite orders
 * deadlock (decision 0086).
 */
const ORDER: readonly LockKind[] = [
  'administrators',
  'security settings',
  'warehouses',
  'rates',
  'print',
  'label station',
  'uploads',
  'user codes',
  'corrections',
  'parcels',
  'audit chain',
];

/** The names that a transaction holds of each kind, and whether it shares them. */
type Held = Map<LockKind, Map<string, 'shared' | 'exclusive'>>;

export type LockOrder = {
  /** Call it with each statement of the transaction, in their order. @throws Error if it takes a lock too late */
  check: (statement: Pick<Sql, 'text' | 'locks'>) => void;
};

/**
 * Checks that a transaction takes its advisory locks in order: a kind after none of the later ones, all names of a kind in one
 * statement, which sorts them, and none first shared and then alone. What is held already may be taken again.
 */
export function makeLockOrder(): LockOrder {
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

  return {
    check({ text, locks }) {
      const [, rollback, name] = SAVEPOINT.exec(text) ?? [];
      if (name !== undefined && rollback === undefined) savepoints.set(name, new Map(held));
      // It also releases the locks that were taken since.
      if (name !== undefined && rollback !== undefined) held = new Map(savepoints.get(name));
      locks?.forEach(take);
    },
  };
}

const SAVEPOINT = /^\s*(rollback to )?savepoint (\w+)/i;

const isHeld = (mode: 'shared' | 'exclusive' | undefined, isShared: boolean): boolean =>
  mode === 'exclusive' || (mode === 'shared' && isShared);

const describe = (kind: LockKind, later: LockKind): string =>
  `A transaction that holds locks of ${later} must not take one of ${kind}, because it may deadlock. ` +
  'Take all locks of a kind in one statement, and the kinds in the order of lock-order.ts.';
