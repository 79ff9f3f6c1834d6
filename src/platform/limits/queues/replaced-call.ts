/** Whose call it is. A tenant may have several keys, and a key several callers. */
export type Owner = { tenant: string; key: string; caller: string };

/** A call that has not started. */
export type WaitingCall = Owner & { reject(): void };

/**
 * Returns the call that makes room in a full queue for one more of this owner: the newest of the tenant with the most calls, or else of
 * the key, or else of the caller. Returns undefined if nobody has more than this owner.
 */
export function findReplaced(calls: WaitingCall[], owner: Owner): WaitingCall | undefined {
  for (const part of PARTS) {
    const most = longest(calls, part);
    const owned = calls.filter((call) => call[part] === owner[part]);
    // Of the key, and then of the caller, that floods it.
    if (most.length > owned.length + 1) return longest(longest(most, 'key'), 'caller').at(-1);
  }
  return undefined;
}

const PARTS = ['tenant', 'key', 'caller'] as const;

function longest(calls: WaitingCall[], part: keyof Owner): WaitingCall[] {
  const groups = new Map<string, WaitingCall[]>();
  for (const call of calls) groups.set(call[part], [...(groups.get(call[part]) ?? []), call]);
  return [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most), []);
}
