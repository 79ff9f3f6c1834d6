import { isSourceMutant, patternOf, type Mutant, type Selection } from './mutant.js';
import { runTests, type Outcome } from './run-tests.js';
import type { Server, Templates } from './server.js';
import type { Workshop } from './workshop.js';

export type Verdict = {
  /** What failed without the guard, when the mutant was killed. */
  killedBy?: string;
  /** Why nothing can be said of it: its tests fail with the guard in place, or the guard cannot be removed. */
  fault?: string;
  seconds: number;
};

/** What one job has to itself. */
export type Place = { workshop: Workshop; templates: Templates };

export type Judge = (mutant: Mutant, place: Place) => Promise<Verdict>;

// Far more than any of the tests takes: the limit ends only what hangs.
const BASELINE_LIMIT_MS = 10 * 60 * 1000;
const limitOf = (baseline: Outcome) => 60_000 + 5_000 * baseline.seconds;

/**
 * Judges mutants by their tests. Each test file runs once with all guards in place, with the tests of all mutants: a
 * test that fails then kills nothing.
 */
export function makeJudge(server: Server, mutants: readonly Mutant[], stopping: AbortSignal): Judge {
  const baselines = new Map<string, Promise<Outcome>>();

  async function run(place: Place, selection: Selection, limitMs: number): Promise<Outcome> {
    stopping.throwIfAborted();
    const { workshop, templates } = place;
    const bench = { folder: workshop.folder, serverUrl: server.url, prefix: templates.prefix, stopping };
    try {
      return await runTests(bench, selection, limitMs);
    } finally {
      await templates.dropClones();
    }
  }

  /** Runs tests while the guard is gone. */
  async function runWithout(mutant: Mutant, place: Place, selection: Selection, limitMs: number) {
    if (isSourceMutant(mutant)) return place.workshop.without(mutant, () => run(place, selection, limitMs));
    const templates = await server.copyTemplates(mutant);
    try {
      return await run({ ...place, templates }, selection, limitMs);
    } finally {
      await templates.drop();
    }
  }

  /** The run of all that a file is asked for; alone where that fails for a test of another mutant. */
  async function baselineOf(selection: Selection, place: Place): Promise<Outcome> {
    const whole = await runOnce(allOf(selection.file, mutants), place);
    return whole.failure === undefined ? whole : runOnce(selection, place);
  }

  function runOnce(selection: Selection, place: Place): Promise<Outcome> {
    const key = JSON.stringify(selection);
    const known = baselines.get(key) ?? run(place, selection, BASELINE_LIMIT_MS);
    baselines.set(key, known);
    return known;
  }

  async function judge(mutant: Mutant, place: Place): Promise<Verdict> {
    for (const selection of mutant.tests) assertPasses(mutant, selection, await baselineOf(selection, place));
    let seconds = 0;
    for (const selection of mutant.tests) {
      const limitMs = limitOf(await baselineOf(selection, place));
      const outcome = await runWithout(mutant, place, selection, limitMs);
      seconds += outcome.seconds;
      if (outcome.failure !== undefined) return { killedBy: outcome.failure, seconds };
    }
    return { seconds };
  }

  return async (mutant, place) => {
    try {
      return await judge(mutant, place);
    } catch (error) {
      return { fault: error instanceof Error ? error.message : String(error), seconds: 0 };
    }
  };
}

/** The tests of a file that any mutant names; all of them when one names no titles. */
function allOf(file: string, mutants: readonly Mutant[]): Selection {
  const named = mutants.flatMap(({ tests }) => tests.filter((each) => each.file === file));
  const titles = named.flatMap((each) => each.titles ?? []);
  return named.every((each) => each.titles) ? { file, titles } : { file };
}

/** @throws when a test fails with all guards in place, or a title picks none */
function assertPasses({ name }: Mutant, { file, titles }: Selection, { passed, failure }: Outcome): void {
  if (failure !== undefined) throw new Error(`${file} fails with all guards in place: ${failure}`);
  const unknown = titles?.find((title) => !passed.some((each) => new RegExp(patternOf(title)).test(each)));
  if (unknown !== undefined) throw new Error(`${name}: no test of ${file} has this in its title: ${unknown}`);
}
