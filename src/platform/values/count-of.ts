/** Returns a count with its noun: `1 package`, `2 packages`. `many` is the plural if it is not `one` with an s. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
