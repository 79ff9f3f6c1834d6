// Starts jest with the flags that all runs need, and ends with its exit status.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './prepare.mjs';

// Tests run much code a few times. Optimising it took a tenth of a run's CPU time: with Liftoff alone V8 does not compile
// WebAssembly a second time, and JavaScript is optimised three times later than by default. Node 24 lacks the second flag.
const V8_FLAGS = [
  '--liftoff-only',
  ...(parseInt(process.versions.v8, 10) < 12 ? ['--interrupt-budget=400000'] : []),
];

export function runJest(args, env = {}) {
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const flags = ['--experimental-vm-modules', '--no-warnings', ...V8_FLAGS];
  const child = spawn(process.execPath, [...flags, jest, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  child.on('exit', (code) => process.exit(code ?? 1));
}
