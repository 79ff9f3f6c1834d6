/** A call that has not started. */
export type WaitingCall = { key: string; caller: string; reject(): void };

/**
 * Returns the call that makes room in a full queue for one more of this key and caller: the newest of the key with the most calls, or
 * else of the caller with the most. Returns undefined if nobody has more than this key and this caller.
 */
export function findReplaced(calls: WaitingCall[], key: string, caller: string): WaitingCall | undefined {
  return exceeding(calls, byKey, key) ?? exceeding(calls, byCaller, caller);
}

const byKey = ({ key }: WaitingCall): string => key;
const byCaller = ({ caller }: WaitingCall): string => caller;

/** Returns the newest call of the owner with the most calls, if it has more than `own` would have with another one. */
function exceeding(
  calls: WaitingCall[],
  ownerOf: (call: WaitingCall) => string,
  own: string,
): WaitingCall | undefined {
  const most = longest(calls, ownerOf);
  const owned = calls.filter((call) => ownerOf(call) === own);
  // Of a key, the caller that floods it.
  return most.length > owned.length + 1 ? longest(most, byCaller).at(-1) : undefined;
}

function longest(calls: WaitingCall[], ownerOf: (call: WaitingCall) => string): WaitingCall[] {
  const groups = new Map<string, WaitingCall[]>();
  for (const call of calls) groups.set(ownerOf(call), [...(groups.get(ownerOf(call)) ?? []), call]);
  return [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most), []);
}
