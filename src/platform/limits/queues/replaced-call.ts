/** Whose call it is, and from where. */
export type Owner = { tenant: string; network: string; key: string; caller: string };

/** A call that has not started. */
export type WaitingCall = Owner & { reject(): void };

/**
 * Returns the call that makes room in a full queue for one more of this owner: the newest of the tenant with the most calls, or else of
 * the network, the key, or the caller. Returns undefined if nobody has more than this owner.
 */
export function findReplaced(calls: WaitingCall[], owner: Owner): WaitingCall | undefined {
  for (const part of PARTS) {
    const most = longest(calls, part);
    const owned = calls.filter((call) => call[part] === owner[part]);
    // Of the network that floods it, there of the key, and there of the caller.
    if (most.length > owned.length + 1)
      return longest(longest(longest(most, 'network'), 'key'), 'caller').at(-1);
  }
  return undefined;
}

const PARTS = ['tenant', 'network', 'key', 'caller'] as const;

function longest(calls: WaitingCall[], part: keyof Owner): WaitingCall[] {
  const groups = new Map<string, WaitingCall[]>();
  for (const call of calls) groups.set(call[part], [...(groups.get(call[part]) ?? []), call]);
  return [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most), []);
}
