// npm run check: the whole gate, one line per step. `-- --no-tests` leaves the tests to npm test.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runSteps } from './check/run-steps.mjs';
import { STAGES } from './check/steps.mjs';
import { prepare } from './prepare.mjs';

const { values } = parseArgs({ options: { 'no-tests': { type: 'boolean', default: false } } });
prepare({ installsHooks: true });
const stages = values['no-tests'] ? STAGES.slice(0, -1) : STAGES;
for (const [index, steps] of stages.entries()) {
  const later = stages
    .slice(index + 1)
    .flat()
    .map(({ name }) => name);
  const isPassed = await runSteps(steps, {
    parallel: availableParallelism(),
    write: (text) => process.stdout.write(text),
    later,
  });
  if (isPassed) continue;
  // exit() would discard output that a pipe has not accepted yet.
  process.exitCode = 1;
  break;
}
