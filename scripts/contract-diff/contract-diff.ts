import { parseArgs } from 'node:util';
import { readChangelog, readCurrent, readLastRelease } from './released.js';
import { describeVerdict } from './report.js';
import { judge } from './verdict.js';
import { runScript } from '../../src/commands/run/script.js';

// npm run contract:diff: compares generated/openapi.json with the last release. Fails on a change that breaks
// integrators, on a version that is too low, and on a change that the changelog does not mention.
await runScript(async (print) => {
  parseArgs({ options: {} });
  const released = await readLastRelease();
  if (!released) throw new Error('No contract has been released. Run npm run contract:release.');
  const verdict = judge(released, await readCurrent(), await readChangelog());
  for (const line of describeVerdict(verdict)) print(line);
  if (verdict.problems.length > 0) process.exitCode = 1;
});
