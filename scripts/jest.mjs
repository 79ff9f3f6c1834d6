// Starts jest with the flags that all runs need.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from './prepare.mjs';

// Tests run much code a few times. Optimising it took a tenth of a run's CPU time: with Liftoff alone V8 does not compile
// WebAssembly a second time, and JavaScript is optimised three times later than by default. Node 24 lacks the second flag.
const V8_FLAGS = [
  '--liftoff-only',
  ...(parseInt(process.versions.v8, 10) < 12 ? ['--interrupt-budget=400000'] : []),
];

/** Ends this process with the exit status of jest. */
export async function runJest(args, env = {}) {
  process.exit(await jestStatus(args, env));
}

/** Returns the exit status of jest; 1 if a signal ended it. */
export async function jestStatus(args, env = {}) {
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const flags = ['--experimental-vm-modules', '--no-warnings', ...V8_FLAGS];
  const child = spawn(process.execPath, [...flags, jest, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}
