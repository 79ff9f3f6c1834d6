import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Language } from '../language.js';
import { runScenario, type Result } from '../scenario/scenario.js';
import { PACKED_FAULTS, PACKED_STEPS } from './steps.js';

/**
 * Packs an SDK that is built, installs the file into an empty project as an integrator does, and runs a program there that knows
 * nothing of this repository. Returns the result of each step, or the reason for a skip.
 */
export async function runPacked(
  language: Language,
  serviceUrl: string,
): Promise<Result | { missing: string }> {
  const project = await mkdtemp(join(tmpdir(), `crossdock-packed-${language.name}-`));
  try {
    const scenario = await language.install(project);
    if ('missing' in scenario) return scenario;
    const name = `packed-${language.name}`;
    return await runScenario({ name, scenario }, serviceUrl, {
      steps: PACKED_STEPS,
      faults: PACKED_FAULTS,
      inSandbox: true,
    });
  } finally {
    await rm(project, { recursive: true, force: true });
  }
}
