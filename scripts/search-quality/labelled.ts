import { seededRandom } from '../../src/development/demo/values/seeded-random.js';
import { KINDS, type Kind } from './misspell.js';
import type { Name } from './names.js';

/** A query, and the name that was meant by it. */
export type Labelled = { kind: Kind; query: string; wanted: Name };

/** So many misspelt queries of each kind for customers drawn from `names`, the same every time. */
export function makeLabelled(names: Name[], perKind: number, seed = 11): Labelled[] {
  const dice = seededRandom(seed);
  // as: the table's own keys
  return (Object.keys(KINDS) as Kind[]).flatMap((kind) => {
    const made: Labelled[] = [];
    while (made.length < perKind) {
      const wanted = dice.pick(names);
      const query = KINDS[kind](wanted, dice);
      if (query && query !== `${wanted.first} ${wanted.last}`) made.push({ kind, query, wanted });
    }
    return made;
  });
}

/** The share of queries whose wanted name is among the first `depth` found. */
export function recallAt(depth: number, results: { wanted: Name; found: Name[] }[]): number {
  const hits = results.filter(({ wanted, found }) =>
    found.slice(0, depth).some(({ first, last }) => first === wanted.first && last === wanted.last),
  );
  return hits.length / results.length;
}

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
