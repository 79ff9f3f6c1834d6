/**
 * Whose call it is, and from where. `group` comes first: known callers and all others have places of their own in a queue, so that neither
 * makes room for the other.
 */
export type Owner = {
  group: 'known' | 'others';
  tenant: string;
  block: string;
  line: string;
  network: string;
  key: string;
  caller: string;
};

/** A call that has not started. */
export type WaitingCall = Owner & { reject(): void };

/**
 * Returns the call that makes room for one more of this owner where the places of its group are full: the newest of the tenant with the
 * most calls, or else of the block of networks, the line, the network, the key, or the caller. Returns undefined if nobody has more than
 * this owner.
 *
 * @param calls of the owner's group
 */
export function findReplaced(calls: WaitingCall[], owner: Owner): WaitingCall | undefined {
  for (const part of PARTS) {
    const most = longest(calls, part);
    const owned = calls.filter((call) => call[part] === owner[part]);
    // Of the network that floods it, there of the key, and there of the caller.
    if (most.length > owned.length + 1) return PARTS.reduce(longest, most).at(-1);
  }
  return undefined;
}

const PARTS = ['tenant', 'block', 'line', 'network', 'key', 'caller'] as const;

function longest(calls: WaitingCall[], part: keyof Owner): WaitingCall[] {
  const groups = new Map<string, WaitingCall[]>();
  for (const call of calls) groups.set(call[part], [...(groups.get(call[part]) ?? []), call]);
  return [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most), []);
}
