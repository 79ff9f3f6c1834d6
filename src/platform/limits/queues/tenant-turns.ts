/** Queues, one per key. Tenants take turns, and so do the keys of a tenant. A key belongs to one tenant. */
export type TenantTurns<Queue> = {
  find(tenant: string, key: string): Queue | undefined;
  /** Returns the queue of the key. It gets an empty one if it has none. */
  open(tenant: string, key: string): Queue;
  /** Takes from the first queue that `hasNext` accepts. The next turn of its key, and of its tenant, is after all others. */
  takeNext<Item>(
    hasNext: (queue: Queue, key: string) => boolean,
    take: (queue: Queue) => Item,
  ): Item | undefined;
  /** Moves the next turn of the key, and of its tenant, after all others. */
  moveToEnd(tenant: string, key: string): void;
  /** Forgets the queue of the key if it is empty. */
  removeEmpty(tenant: string, key: string): void;
  queues(): Queue[];
};

export function makeTenantTurns<Queue extends { size(): number }>(
  makeQueue: (key: string) => Queue,
): TenantTurns<Queue> {
  // Insertion order is the order of the turns.
  const tenants = new Map<string, Map<string, Queue>>();

  const find = (tenant: string, key: string) => tenants.get(tenant)?.get(key);

  function removeEmpty(tenant: string, key: string): void {
    const queues = tenants.get(tenant);
    if (queues?.get(key)?.size() === 0) queues.delete(key);
    if (queues?.size === 0) tenants.delete(tenant);
  }

  function moveToEnd(tenant: string, key: string): void {
    const queues = tenants.get(tenant);
    const queue = queues?.get(key);
    if (!queues || !queue) return;
    queues.delete(key);
    queues.set(key, queue);
    tenants.delete(tenant);
    tenants.set(tenant, queues);
    removeEmpty(tenant, key);
  }

  return {
    find,
    open(tenant, key) {
      const queues = tenants.get(tenant) ?? new Map<string, Queue>();
      const queue = queues.get(key) ?? makeQueue(key);
      queues.set(key, queue);
      tenants.set(tenant, queues);
      return queue;
    },
    takeNext(hasNext, take) {
      for (const [tenant, queues] of tenants)
        for (const [key, queue] of queues) {
          if (!hasNext(queue, key)) continue;
          const item = take(queue);
          moveToEnd(tenant, key);
          return item;
        }
      return undefined;
    },
    moveToEnd,
    removeEmpty,
    queues: () => [...tenants.values()].flatMap((queues) => [...queues.values()]),
  };
}
