import { parseArgs } from 'node:util';
import { makeJudge, type Verdict } from './mutants/judge.js';
import { placeOf, type Mutant } from './mutants/mutant.js';
import { startServer, type Server } from './mutants/server.js';
import { faultsOf } from './mutants/stale.js';
import { MUTANTS } from './mutants/table.js';
import { openWorkshop } from './mutants/workshop.js';
import { runScript } from './script.js';

// npm run mutants: removes the guards of the table one by one, in a copy of the project, and runs the tests that must
// notice. `-- --only name` picks the guards whose names hold it, `--jobs 2` runs two at once, `--list` runs nothing.
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    jobs: { type: 'string', default: '1' },
    list: { type: 'boolean', default: false },
  },
});

const NAME_WIDTH = Math.max(...MUTANTS.map(({ name }) => name.length));
const FILE_WIDTH = Math.max(...MUTANTS.map((mutant) => placeOf(mutant).length));

await runScript(async (print) => {
  const faults = faultsOf(MUTANTS);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  if (!/^[1-9]$/.test(values.jobs)) throw new Error('--jobs must be a number from 1 to 9.');
  const chosen = MUTANTS.filter(({ name }) => values.only.some((part) => name.includes(part)));
  if (chosen.length === 0)
    throw new Error('No guard has that in its name. `npm run mutants -- --list` names them.');
  if (values.list) {
    for (const mutant of chosen) print(`${mutant.name}  (${placeOf(mutant)})`);
    return;
  }
  const server = await startServer();
  try {
    report(await judgeAll(server, chosen, print), print);
  } finally {
    await server.stop();
  }
});

/** Judges all, `--jobs` at a time, each job in a copy of its own. */
async function judgeAll(
  server: Server,
  chosen: readonly Mutant[],
  print: (line: string) => void,
): Promise<Verdict[]> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stopping.abort(new Error('Interrupted.')));
  const judge = makeJudge(server, chosen, stopping.signal);
  const waiting = [...chosen];
  const verdicts: Verdict[] = [];
  print(`${'guard'.padEnd(NAME_WIDTH)} ${'file'.padEnd(FILE_WIDTH)} ${'verdict'.padEnd(8)} seconds  by`);
  const work = async () => {
    const workshop = await openWorkshop();
    const templates = await server.copyTemplates();
    try {
      for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
        const verdict = await judge(mutant, { workshop, templates });
        stopping.signal.throwIfAborted();
        verdicts.push(verdict);
        print(rowOf(mutant, verdict));
      }
    } finally {
      // after a fault, the other jobs stop too
      waiting.length = 0;
      await workshop.remove();
    }
  };
  const jobs = await Promise.allSettled(Array.from({ length: Number(values.jobs) }, work));
  for (const job of jobs) if (job.status === 'rejected') throw job.reason;
  return verdicts;
}

function rowOf(mutant: Mutant, { killedBy, fault, seconds }: Verdict): string {
  const verdict = killedBy !== undefined ? 'killed' : fault !== undefined ? 'BROKEN' : 'SURVIVED';
  const columns = [mutant.name.padEnd(NAME_WIDTH), placeOf(mutant).padEnd(FILE_WIDTH), verdict.padEnd(8)];
  return `${columns.join(' ')} ${seconds.toFixed(1).padStart(7)}  ${killedBy ?? fault ?? ''}`.trimEnd();
}

function report(verdicts: Verdict[], print: (line: string) => void): void {
  const killed = verdicts.filter(({ killedBy }) => killedBy !== undefined).length;
  const broken = verdicts.filter(({ fault }) => fault !== undefined).length;
  print(`${killed} of ${verdicts.length} killed`);
  if (broken > 0) throw new Error('A mutant cannot be judged. Mend its entry or its tests.');
  if (killed < verdicts.length)
    throw new Error('No test notices that a guard is gone. Add the test that does.');
}
