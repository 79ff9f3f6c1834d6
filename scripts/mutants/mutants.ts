import { parseArgs } from 'node:util';
import { makeEvaluator, type Verdict } from './evaluate.js';
import { locationOf, type Mutant } from './mutant.js';
import { startServer, type Server } from './server.js';
import { problemsOf } from './stale.js';
import { MUTANTS } from './table.js';
import { openWorkingCopy } from './working-copy.js';
import { runScript } from '../../src/commands/run/script.js';

// npm run mutants: removes the guards in the table one by one, in a copy of the project, and runs the tests
// that must detect it. `-- --only name` selects guards by part of their name, `--jobs 2` runs two in
// parallel, `--list` only lists them.
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    jobs: { type: 'string', default: '1' },
    list: { type: 'boolean', default: false },
    // runScript prints the usage.
    help: { type: 'boolean', short: 'h' },
  },
});

const NAME_WIDTH = Math.max(...MUTANTS.map(({ name }) => name.length));
const FILE_WIDTH = Math.max(...MUTANTS.map((mutant) => locationOf(mutant).length));

await runScript(async (print) => {
  const problems = problemsOf(MUTANTS);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  if (!/^[1-9]$/.test(values.jobs)) throw new Error('--jobs must be a number from 1 to 9.');
  const chosen = MUTANTS.filter(({ name }) => values.only.some((part) => name.includes(part)));
  if (chosen.length === 0)
    throw new Error('No guard matches --only. List the names with `npm run mutants -- --list`.');
  if (values.list) {
    for (const mutant of chosen) print(`${mutant.name}  (${locationOf(mutant)})`);
    return;
  }
  const server = await startServer();
  try {
    report(await evaluateAll(server, chosen, print), print);
  } finally {
    await server.stop();
  }
});

/** Evaluates all mutants, `--jobs` in parallel, each job in its own copy. */
async function evaluateAll(
  server: Server,
  chosen: readonly Mutant[],
  print: (line: string) => void,
): Promise<Verdict[]> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stopping.abort(new Error('Interrupted.')));
  const evaluate = makeEvaluator(server, chosen, stopping.signal);
  const pending = [...chosen];
  const verdicts: Verdict[] = [];
  print(`${'guard'.padEnd(NAME_WIDTH)} ${'file'.padEnd(FILE_WIDTH)} ${'verdict'.padEnd(8)} seconds  by`);
  const work = async () => {
    const copy = await openWorkingCopy();
    const templates = await server.copyTemplates();
    try {
      for (let mutant = pending.shift(); mutant; mutant = pending.shift()) {
        const verdict = await evaluate(mutant, { copy, templates });
        stopping.signal.throwIfAborted();
        verdicts.push(verdict);
        print(rowOf(mutant, verdict));
      }
    } finally {
      // After an error the other jobs stop too.
      pending.length = 0;
      await copy.remove();
    }
  };
  const jobs = await Promise.allSettled(Array.from({ length: Number(values.jobs) }, work));
  for (const job of jobs) if (job.status === 'rejected') throw job.reason;
  return verdicts;
}

function rowOf(mutant: Mutant, { killedBy, error, seconds }: Verdict): string {
  const verdict = killedBy !== undefined ? 'killed' : error !== undefined ? 'BROKEN' : 'SURVIVED';
  const columns = [mutant.name.padEnd(NAME_WIDTH), locationOf(mutant).padEnd(FILE_WIDTH), verdict.padEnd(8)];
  return `${columns.join(' ')} ${seconds.toFixed(1).padStart(7)}  ${killedBy ?? error ?? ''}`.trimEnd();
}

function report(verdicts: Verdict[], print: (line: string) => void): void {
  const killed = verdicts.filter(({ killedBy }) => killedBy !== undefined).length;
  const broken = verdicts.filter(({ error }) => error !== undefined).length;
  print(`${killed} of ${verdicts.length} killed`);
  if (broken > 0) throw new Error('A mutant cannot be evaluated. Fix its entry in the table or its tests.');
  if (killed < verdicts.length)
    throw new Error('A mutant survived: no test fails without its guard. Add a test that does.');
}
