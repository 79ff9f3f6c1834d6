/** Runs `work` for every item, at most `atOnce` at the same time, and returns the results in the order of the items. */
export async function inTurn<Item, Result>(
  items: Item[],
  work: (item: Item) => Promise<Result>,
  atOnce = 4,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = [...items.entries()];
  const run = async () => {
    for (let next = left.shift(); next; next = left.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, run));
  return results;
}
