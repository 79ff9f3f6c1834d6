import { basename } from 'node:path';
import { commandLine, isHelpAsked } from '../../config/commands.js';
import { allowClosedOutput } from './closed-output.js';
import { describeFailure } from '../../platform/db/violations.js';

/**
 * Runs a command-line script. An error is printed in one line, with exit status 1. With --help it prints the usage instead.
 *
 * @param usage how to call it, without "Usage:"
 */
export async function runScript(
  work: (print: (line: string) => void) => Promise<void>,
  usage = `${commandLine(basename(process.argv[1] ?? '', '.js'))} [options]. docs/ describes it.`,
): Promise<void> {
  allowClosedOutput();
  if (isHelpAsked()) {
    process.stdout.write(`Usage: ${usage}\n`);
    return;
  }
  try {
    await work((line) => process.stdout.write(`${line}\n`));
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`);
    process.exitCode = 1;
  }
}
