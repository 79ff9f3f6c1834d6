/**
 * A test file, and what picks its tests; without titles, all of them. A title is a part of the whole title, or several
 * parts in their order: `a file of csv > takes every filter`.
 */
export type Selection = { file: string; titles?: readonly string[] };

export const partsOf = (title: string): string[] => title.split(' > ');

/** What the title matches among whole titles, as jest takes it. */
export const patternOf = (title: string): string =>
  partsOf(title)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('.*');

type Named = {
  /** The guard that is taken away, as a short claim. */
  name: string;
  /** Tests that must fail without it. They run in this order, until one fails. */
  tests: readonly Selection[];
};

/** A change of a source file: `find` occurs there exactly once. */
export type SourceMutant = Named & { file: string; find: string; replace: string };

/** A statement that takes a guard out of a migrated database: a policy, a trigger, a constraint. */
export type StatementMutant = Named & { statement: string };

/** A change of a function's body as the database has it after all migrations: `find` occurs there exactly once. */
export type FunctionMutant = Named & { function: string; find: string; replace: string };

export type DatabaseMutant = StatementMutant | FunctionMutant;
export type Mutant = SourceMutant | DatabaseMutant;

export const isSourceMutant = (mutant: Mutant): mutant is SourceMutant => 'file' in mutant;

/** Where the guard is, for people. */
export function placeOf(mutant: Mutant): string {
  if (isSourceMutant(mutant)) return mutant.file;
  return 'function' in mutant ? `${mutant.function}()` : 'database';
}

/** The text without the guard. @throws when `find` does not occur exactly once */
export function withoutGuard(text: string, { find, replace }: { find: string; replace: string }): string {
  const [before, ...rest] = text.split(find);
  if (before === undefined || rest.length !== 1)
    throw new Error(`The text occurs ${rest.length} times, and must occur once: ${find}`);
  return before + replace + (rest[0] ?? '');
}
