/**
 * A test file and the tests to run; without titles, all of them. A title is part of the full title, or
 * several parts in order: `a CSV file > accepts every filter`.
 */
export type Selection = { file: string; titles?: readonly string[] };

export const partsOf = (title: string): string[] => title.split(' > ');

/** Returns the pattern that matches the title within full titles, for jest. */
export const patternOf = (title: string): string =>
  partsOf(title)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('.*');

type Named = {
  /** The removed guard, as a short statement. */
  name: string;
  /** Tests that must fail without the guard. They run in this order until one fails. */
  tests: readonly Selection[];
};

/** A change of a source file. `find` occurs exactly once in it. */
export type SourceMutant = Named & { file: string; find: string; replace: string };

/** A statement that removes a guard from a migrated database: a policy, a trigger or a constraint. */
type StatementMutant = Named & { statement: string };

/** A change of a function's body as defined after all migrations. `find` occurs exactly once in it. */
type FunctionMutant = Named & { function: string; find: string; replace: string };

export type DatabaseMutant = StatementMutant | FunctionMutant;
export type Mutant = SourceMutant | DatabaseMutant;

export const isSourceMutant = (mutant: Mutant): mutant is SourceMutant => 'file' in mutant;

/** Returns where the guard is, for the report. */
export function locationOf(mutant: Mutant): string {
  if (isSourceMutant(mutant)) return mutant.file;
  return 'function' in mutant ? `${mutant.function}()` : 'database';
}

/** Returns the text without the guard. @throws unless `find` occurs exactly once */
export function withoutGuard(text: string, { find, replace }: { find: string; replace: string }): string {
  const [before, ...rest] = text.split(find);
  if (before === undefined || rest.length !== 1)
    throw new Error(`The text occurs ${rest.length} times, but must occur once: ${find}`);
  return before + replace + (rest[0] ?? '');
}
