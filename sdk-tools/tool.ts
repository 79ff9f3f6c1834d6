import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import type { Command, Toolchain } from './language.js';

export type Finished = { code: number | null; output: string };

/** Runs a program and returns its standard output. @throws Error with all of its output if it fails */
export async function runTool(command: Command, env: Record<string, string> = {}): Promise<string> {
  let lines = '';
  const { code, output } = await runProgram(command, env, (text) => (lines += text));
  if (code === 0) return lines;
  throw new Error(`${[command.program, ...command.args].join(' ')} ended with ${code}.\n${output}`);
}

/** Runs a program to its end. `onText` receives the standard output; `output` also contains standard error. */
export function runProgram(
  { program, args, folder }: Command,
  env: Record<string, string>,
  onText: (text: string) => void,
): Promise<Finished> {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    onText(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** Asks each program for its version: `['go', 'version']`. The first that does not run is the reason for a skip. */
export async function findTools(...questions: [program: string, ...args: string[]][]): Promise<Toolchain> {
  const versions: string[] = [];
  for (const [program, ...args] of questions) {
    const { code, output } = await runProgram({ program, args, folder: '.' }, {}, () => undefined).catch(
      // spawn() fails if the program does not exist.
      () => ({ code: null, output: '' }),
    );
    if (code !== 0) return { missing: `${program} is not installed` };
    // Maven colours its answer.
    versions.push(stripVTControlCharacters(output).trim().split('\n')[0] ?? program);
  }
  return { found: versions.join(', ') };
}
