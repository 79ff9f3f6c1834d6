import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../src/config/project-root.js';
import { readCurrent, readLastRelease } from './contract-diff/released.js';
import { describeVerdict } from './contract-diff/report.js';
import { judge } from './contract-diff/verdict.js';
import { runScript } from './script.js';

// npm run contract:diff: compares generated/openapi.json with the last release. Fails on a change that breaks
// integrators, on a version that is too low, and on a change that the changelog does not mention.
await runScript(async (print) => {
  const changelog = await readFile(join(projectRoot, 'CHANGELOG.md'), 'utf8');
  const verdict = judge(await readLastRelease(), await readCurrent(), changelog);
  for (const line of describeVerdict(verdict)) print(line);
  if (verdict.problems.length > 0) process.exitCode = 1;
});
