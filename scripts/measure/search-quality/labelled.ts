import { seededRandom } from '../../../fixtures/demo/values/seeded-random.js';
import { KINDS, type Kind } from './misspell.js';
import type { Name } from '../rig/names.js';

/** A query and the name that it refers to. */
export type Labelled = { kind: Kind; query: string; wanted: Name };

/**
 * Returns `perKind` misspelt queries of each kind for customers from `names`. The result is deterministic.
 */
export function makeLabelled(names: Name[], perKind: number, seed = 11): Labelled[] {
  const dice = seededRandom(seed);
  // Object.keys loses the type of the table's keys.
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

/** Returns the share of queries whose wanted name is among the first `depth` results. */
export function recallAt(depth: number, results: { wanted: Name; found: Name[] }[]): number {
  const hits = results.filter(({ wanted, found }) =>
    found.slice(0, depth).some(({ first, last }) => first === wanted.first && last === wanted.last),
  );
  return hits.length / results.length;
}
