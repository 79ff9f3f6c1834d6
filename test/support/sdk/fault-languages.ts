import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CLASS_PATH } from '../../../sdk-tools/java/language.js';
import type { Command } from '../../../sdk-tools/language.js';
import { php } from '../../../sdk-tools/php/language.js';
import { isBuilt, python } from '../../../sdk-tools/python/language.js';
import { projectRoot } from '../../../src/config/project-root.js';

/** A program that makes the calls in CROSSDOCK_CALLS with one SDK. */
export type FaultLanguage = {
  name: string;
  command: Command;
  environment?: Record<string, string>;
  /** What its User-Agent begins with. */
  userAgent: string;
  /** How to build it, if it is not built. */
  missing?: string;
  /** How many programs share the calls, for a language that makes one call at a time. */
  programs: number;
};

const program = (name: string) => join(projectRoot, 'test', 'sdk', 'programs', name);
const sdk = (name: string) => join(projectRoot, 'sdk', name);
const missing = (name: string, isMissing: boolean) =>
  isMissing ? { missing: `build it with npm run sdk -- ${name}` } : {};

/** The five SDKs. The one for Python has two clients. */
export async function faultLanguages(): Promise<FaultLanguage[]> {
  const phpTools = await php.toolchain();
  const hasPython = await isBuilt();
  const pythonCommand = { ...python.scenario, args: [program('faults.py')] };
  return [
    {
      name: 'TypeScript',
      command: { program: process.execPath, args: [program('faults.mjs')], folder: sdk('typescript') },
      userAgent: 'crossdock-sdk-typescript/',
      programs: 1,
    },
    {
      name: 'PHP',
      command: { program: 'php', args: [program('faults.php')], folder: sdk('php') },
      userAgent: 'crossdock-php/',
      programs: 8,
      ...('missing' in phpTools ? { missing: phpTools.missing } : {}),
      ...missing('php', !existsSync(join(sdk('php'), 'generated'))),
    },
    {
      name: 'Python',
      command: pythonCommand,
      userAgent: 'crossdock-python/',
      programs: 1,
      ...missing('python', !hasPython),
    },
    {
      name: 'Python with asyncio',
      command: pythonCommand,
      environment: { CROSSDOCK_ASYNCIO: '1' },
      userAgent: 'crossdock-python/',
      programs: 1,
      ...missing('python', !hasPython),
    },
    {
      name: 'Go',
      command: { program: join(sdk('go'), 'bin', 'faults'), args: [], folder: sdk('go') },
      userAgent: 'crossdock-go/',
      programs: 1,
      ...missing('go', !existsSync(join(sdk('go'), 'bin', 'faults'))),
    },
    {
      name: 'Java',
      command: {
        program: 'java',
        args: ['-cp', CLASS_PATH, program('Faults.java')],
        folder: sdk('java'),
      },
      userAgent: 'crossdock-java/',
      programs: 1,
      ...missing('java', !existsSync(join(sdk('java'), 'target', 'lib'))),
    },
  ];
}
