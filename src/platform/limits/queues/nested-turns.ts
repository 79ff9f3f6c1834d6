/** Where a queue is, from the outside in: for example a tenant and a key. All places of one set of turns have as many parts. */
export type Place = readonly string[];

/** Queues whose owners take turns at each level: tenants, then what a tenant has, and so on. */
export type NestedTurns<Queue> = {
  find(place: Place): Queue | undefined;
  /** Returns the queue of the place. It gets an empty one if it has none. */
  open(place: Place): Queue;
  /** Takes from the first queue that `hasNext` accepts. At each level, the next turn of its owner is after all others. */
  takeNext<Item>(hasNext: (queue: Queue) => boolean, take: (queue: Queue) => Item): Item | undefined;
  /** At each level, moves the next turn of the place's owner after all others. */
  moveToEnd(place: Place): void;
  /** Forgets the queue of the place if it is empty. */
  removeEmpty(place: Place): void;
  queues(): Queue[];
};

/** A queue, or the owners of the next level in the order of their turns. */
type Level<Queue> = { queue: Queue } | { owners: Map<string, Level<Queue>> };

export function makeNestedTurns<Queue extends { size(): number }>(
  makeQueue: (place: Place) => Queue,
): NestedTurns<Queue> {
  const top: { owners: Map<string, Level<Queue>> } = { owners: new Map() };

  const isEmpty = (level: Level<Queue>) =>
    'queue' in level ? level.queue.size() === 0 : level.owners.size === 0;

  /** Returns the level of each part of the place, as far as they exist. */
  function levelsOf(place: Place): Level<Queue>[] {
    const levels: Level<Queue>[] = [];
    let level: Level<Queue> | undefined = top;
    for (const name of place) {
      level = level && 'owners' in level ? level.owners.get(name) : undefined;
      if (level) levels.push(level);
    }
    return levels;
  }

  function find(place: Place): Queue | undefined {
    const last = levelsOf(place)[place.length - 1];
    return last && 'queue' in last ? last.queue : undefined;
  }

  /** Puts each part of the place at the end of its level, or removes it if nothing waits there. */
  function settle(place: Place, isMoved: boolean): void {
    const levels = [top, ...levelsOf(place)];
    for (let depth = levels.length - 1; depth > 0; depth -= 1) {
      const [outer, level, name] = [levels[depth - 1], levels[depth], place[depth - 1]];
      if (!outer || !level || name === undefined || 'queue' in outer) continue;
      const isRemoved = isEmpty(level);
      if (isRemoved || isMoved) outer.owners.delete(name);
      if (!isRemoved && isMoved) outer.owners.set(name, level);
    }
  }

  function findNext(
    { owners }: { owners: Map<string, Level<Queue>> },
    hasNext: (queue: Queue) => boolean,
  ): { place: string[]; queue: Queue } | undefined {
    for (const [name, level] of owners) {
      const found =
        'owners' in level
          ? findNext(level, hasNext)
          : hasNext(level.queue) && { place: [], queue: level.queue };
      if (found) return { place: [name, ...found.place], queue: found.queue };
    }
    return undefined;
  }

  function listQueues(level: Level<Queue>): Queue[] {
    return 'queue' in level ? [level.queue] : [...level.owners.values()].flatMap(listQueues);
  }

  return {
    find,
    open(place) {
      let { owners } = top;
      for (const name of place.slice(0, -1)) {
        const found = owners.get(name);
        const level = found && 'owners' in found ? found : { owners: new Map<string, Level<Queue>>() };
        owners.set(name, level);
        ({ owners } = level);
      }
      const queue = find(place) ?? makeQueue(place);
      owners.set(place.at(-1) ?? '', { queue });
      return queue;
    },
    takeNext(hasNext, take) {
      const next = findNext(top, hasNext);
      if (!next) return undefined;
      const item = take(next.queue);
      settle(next.place, true);
      return item;
    },
    moveToEnd: (place) => settle(place, true),
    removeEmpty: (place) => settle(place, false),
    queues: () => listQueues(top),
  };
}
