/** Enough for those that may wait. More of them would only forget who was served long ago. */
const MAX_REMEMBERED = 1_000;

/** Gives every second turn to a block of networks, whichever tenants its calls name. */
export type BlockTurns = {
  /**
   * Returns the block that was served longest ago, or undefined if the turn is not that of a block.
   *
   * @param listWaiting returns the blocks that wait; not called if the turn is not that of a block
   */
  due(listWaiting: () => Iterable<string>): string | undefined;
  /** To be called when a call of a block starts. */
  note(block: string): void;
};

/**
 * Tenants take turns first, so that many networks at one tenant delay no other tenant. Then one network that calls at many tenants would have
 * a turn at each. So every second turn is that of the block that was served longest ago.
 */
export function makeBlockTurns(): BlockTurns {
  // Insertion order is the order of their last turns.
  const served = new Set<string>();
  let turns = 0;

  return {
    due(listWaiting) {
      if (turns % 2 === 0) return undefined;
      const blocks = new Set(listWaiting());
      for (const block of blocks) if (!served.has(block)) return block;
      for (const block of served) if (blocks.has(block)) return block;
      return undefined;
    },
    note(block) {
      turns += 1;
      served.delete(block);
      served.add(block);
      const [oldest] = served;
      if (served.size > MAX_REMEMBERED && oldest !== undefined) served.delete(oldest);
    },
  };
}
