import { isSourceMutant, patternOf, type Mutant, type Selection } from './mutant.js';
import { runTests, type Outcome } from './run-tests.js';
import type { Server, Templates } from './server.js';
import type { WorkingCopy } from './working-copy.js';

export type Verdict = {
  /** The test that failed without the guard, if the mutant was killed. */
  killedBy?: string;
  /** Why there is no result: the tests fail with the guard in place, or the guard cannot be removed. */
  error?: string;
  seconds: number;
};

/** The working copy and databases of one job. */
type JobContext = { copy: WorkingCopy; templates: Templates };

export type Evaluate = (mutant: Mutant, context: JobContext) => Promise<Verdict>;

// Far more than any test needs; the limit only ends hanging tests.
const BASELINE_LIMIT_MS = 10 * 60 * 1000;
const limitOf = (baseline: Outcome) => 60_000 + 5_000 * baseline.seconds;

/**
 * Evaluates mutants by their tests. Each test file first runs once with all guards in place, with the tests
 * of all mutants. A test that fails in this baseline run cannot kill a mutant.
 */
export function makeEvaluator(server: Server, mutants: readonly Mutant[], stopping: AbortSignal): Evaluate {
  const baselines = new Map<string, Promise<Outcome>>();

  async function run(context: JobContext, selection: Selection, limitMs: number): Promise<Outcome> {
    stopping.throwIfAborted();
    const { copy, templates } = context;
    const environment = { folder: copy.folder, serverUrl: server.url, prefix: templates.prefix, stopping };
    try {
      return await runTests(environment, selection, limitMs);
    } finally {
      await templates.dropClones();
    }
  }

  /** Runs tests without the guard. */
  async function runWithout(mutant: Mutant, context: JobContext, selection: Selection, limitMs: number) {
    if (isSourceMutant(mutant)) return context.copy.without(mutant, () => run(context, selection, limitMs));
    const templates = await server.copyTemplates(mutant);
    try {
      return await run({ ...context, templates }, selection, limitMs);
    } finally {
      await templates.drop();
    }
  }

  /**
   * Returns the baseline run of the file's tests of all mutants, or only of these tests if another mutant's
   * test fails.
   */
  async function baselineOf(selection: Selection, context: JobContext): Promise<Outcome> {
    const whole = await runOnce(allOf(selection.file, mutants), context);
    return whole.failure === undefined ? whole : runOnce(selection, context);
  }

  function runOnce(selection: Selection, context: JobContext): Promise<Outcome> {
    const key = JSON.stringify(selection);
    const known = baselines.get(key) ?? run(context, selection, BASELINE_LIMIT_MS);
    baselines.set(key, known);
    return known;
  }

  async function evaluate(mutant: Mutant, context: JobContext): Promise<Verdict> {
    for (const selection of mutant.tests)
      assertPasses(mutant, selection, await baselineOf(selection, context));
    let seconds = 0;
    for (const selection of mutant.tests) {
      const limitMs = limitOf(await baselineOf(selection, context));
      const outcome = await runWithout(mutant, context, selection, limitMs);
      seconds += outcome.seconds;
      if (outcome.failure !== undefined) return { killedBy: outcome.failure, seconds };
    }
    return { seconds };
  }

  return async (mutant, context) => {
    try {
      return await evaluate(mutant, context);
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error), seconds: 0 };
    }
  };
}

/** Selects the tests of a file that any mutant names; all tests if a mutant names no titles. */
function allOf(file: string, mutants: readonly Mutant[]): Selection {
  const named = mutants.flatMap(({ tests }) => tests.filter((each) => each.file === file));
  const titles = named.flatMap((each) => each.titles ?? []);
  return named.every((each) => each.titles) ? { file, titles } : { file };
}

/** @throws if a test fails with all guards in place, or a title matches no test */
function assertPasses({ name }: Mutant, { file, titles }: Selection, { passed, failure }: Outcome): void {
  if (failure !== undefined) throw new Error(`${file} fails with all guards in place: ${failure}`);
  const unknown = titles?.find((title) => !passed.some((each) => new RegExp(patternOf(title)).test(each)));
  if (unknown !== undefined) throw new Error(`${name}: no test title in ${file} contains: ${unknown}`);
}
