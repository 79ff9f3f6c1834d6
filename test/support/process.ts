import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/root.js';

/** The service as it is really run: a process of its own, with its own memory and its own log. */
export type ServiceProcess = {
  url: string;
  /** Everything it has printed so far. */
  output(): string;
  residentBytes(): number;
  stop(): Promise<void>;
};

/** Starts what `npm run build` made. */
export async function startProcess(env: Record<string, string>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [join(projectRoot, 'dist', 'src', 'main.js')], {
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const url = await firstMatch(child, () => /is serving (\S+)/.exec(output)?.[1]);
  return {
    url,
    output: () => output,
    residentBytes: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

function firstMatch(child: ChildProcess, find: () => string | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = find();
      if (found) resolve(found);
    };
    child.stderr?.on('data', look);
    child.once('exit', (code) => reject(new Error(`The service ended with ${code}.`)));
  });
}
