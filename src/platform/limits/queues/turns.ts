// Our own: p-queue, bottleneck and fastq have one queue, in order of priority or arrival. Owners take no turns in it.

/** Items that wait. Their owners take turns, and the items of an owner stay in order. */
export type Turns<Item> = {
  size(): number;
  countOf(owner: string): number;
  itemsOf(owner: string): readonly Item[];
  /** Adds an item after the others of its owner, or before the first one that must come later. */
  add(owner: string, item: Item, comesLater?: (other: Item) => boolean): void;
  /** Adds an item before the others of its owner, whose next turn is after all other owners. */
  addFirst(owner: string, item: Item): void;
  remove(owner: string, item: Item): void;
  /** Returns the item whose turn it is. */
  first(): Item | undefined;
  /** Removes and returns the item whose turn it is. The next turn of its owner is after all other owners. */
  takeFirst(): Item | undefined;
  /** Returns the items of the owner with the most. */
  longest(): readonly Item[];
};

export function makeTurns<Item>(): Turns<Item> {
  // Insertion order is the order of the owners' turns.
  const queues = new Map<string, Item[]>();
  let size = 0;
  const queueOf = (owner: string): Item[] => queues.get(owner) ?? [];

  function replace(owner: string, items: Item[]): void {
    size += items.length - queueOf(owner).length;
    if (items.length > 0) queues.set(owner, items);
    else queues.delete(owner);
  }

  function replaceAtEnd(owner: string, items: Item[]): void {
    replace(owner, []);
    replace(owner, items);
  }

  return {
    size: () => size,
    countOf: (owner) => queueOf(owner).length,
    itemsOf: queueOf,
    add(owner, item, comesLater = () => false) {
      const items = queueOf(owner);
      const place = items.findIndex(comesLater);
      replace(owner, place === -1 ? [...items, item] : items.toSpliced(place, 0, item));
    },
    addFirst: (owner, item) => replaceAtEnd(owner, [item, ...queueOf(owner)]),
    remove(owner, item) {
      const others = queueOf(owner).filter((other) => other !== item);
      replace(owner, others);
    },
    first: () => queues.values().next().value?.[0],
    takeFirst() {
      const [owner, [item, ...others] = []] = queues.entries().next().value ?? [];
      if (owner !== undefined) replaceAtEnd(owner, others);
      return item;
    },
    longest: () =>
      [...queues.values()].reduce((most, items) => (items.length > most.length ? items : most), []),
  };
}
