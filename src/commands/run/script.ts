import { basename } from 'node:path';
import { commandLine, isHelpAsked } from '../../config/commands.js';
import { allowClosedOutput } from './closed-output.js';
import { describeFailure } from '../../platform/db/violations.js';

/**
 * Runs a command-line script. An error is printed in one line, with exit status 1; the usage follows if it is an unknown argument. With
 * --help it prints the usage instead.
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
    process.stderr.write(`${describeArgumentFault(error, usage) ?? describeFailure(error)}\n`);
    process.exitCode = 1;
  }
}

/**
 * Returns what `parseArgs` says of an unknown or incomplete argument, and the usage. It has no value of the argument, which may be a secret.
 *
 * @returns undefined if the error is another one
 */
export function describeArgumentFault(error: unknown, usage: string): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !String(error.code).startsWith('ERR_PARSE_ARGS'))
    return undefined;
  // Node suggests to pass an unknown option as a positional argument, which no command takes.
  const [fault = ''] = error.message.split(/\.? To specify /);
  return `${fault.replace(/'([^'=]*)=[^']*'/, "'$1'").replace(/\.?$/, '.')}\nUsage: ${usage}`;
}
