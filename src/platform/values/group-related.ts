type Group<Item> = { keys: Set<string>; items: Item[] };

/** Groups items: two with a common key are of one group, and so are those that others connect. Groups are in the order of their keys. */
export function groupRelated<Item>(
  items: readonly Item[],
  keysOf: (item: Item) => readonly string[],
): Item[][] {
  const groups = new Map<string, Group<Item>>();
  for (const item of items) {
    const keys = keysOf(item);
    const group = join(groups, [...new Set(keys.flatMap((key) => groups.get(key) ?? []))]);
    group.items.push(item);
    addKeys(groups, group, keys);
  }
  return [...new Set(groups.values())].map((group) => group.items);
}

/** Joins groups. The largest one takes the others, because copying it for each item would take quadratic time. */
function join<Item>(groups: Map<string, Group<Item>>, related: Group<Item>[]): Group<Item> {
  const [largest, ...others] = related.sort((a, b) => b.keys.size - a.keys.size);
  if (!largest) return { keys: new Set(), items: [] };
  for (const { keys, items } of others) {
    largest.items.push(...items);
    addKeys(groups, largest, keys);
  }
  return largest;
}

function addKeys<Item>(groups: Map<string, Group<Item>>, group: Group<Item>, keys: Iterable<string>): void {
  for (const key of keys) {
    group.keys.add(key);
    groups.set(key, group);
  }
}
