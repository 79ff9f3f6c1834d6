import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import { readContract, type Contract } from '../contract.js';
import { failureCodes } from '../failure-codes.js';
import type { Language } from '../language.js';
import { filePaths, notRepeatable } from '../repeatable.js';
import { RETRIES, retriedCodes, statusesOf } from '../retries.js';
import { findTools, runTool } from '../tool.js';

const folder = join(projectRoot, 'sdk', 'go');

/** Generates the package api with oapi-codegen and what follows from the contract, compiles, and runs the tests. */
export const go: Language = {
  name: 'go',
  title: 'Go',
  toolchain: () => findTools(['go', 'version']),
  async build() {
    await writeFile(join(folder, 'codes.gen.go'), codesFile(await failureCodes()));
    await writeFile(join(folder, 'retries.gen.go'), retriesFile(await readContract()));
    const steps = [
      ['generate', './...'],
      ['vet', './...'],
      ['test', './...'],
      ['build', '-o', 'bin/', './...'],
    ];
    for (const args of steps) await runTool({ program: 'go', args, folder });
  },
  scenario: { program: join(folder, 'bin', 'scenario'), args: [], folder },
};

const HEAD = '// Code generated from the contract. DO NOT EDIT.\n\npackage crossdock\n\n';

function codesFile(codes: string[]): string {
  const rows = codes.map((code) => `\tCode${camelCase(code)} Code = "${code}"`);
  return `${HEAD}// The codes of failures.\nconst (\n${rows.join('\n')}\n)\n`;
}

const camelCase = (code: string) =>
  code.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The values of sdk/retries.yaml, and which operations may be repeated. */
function retriesFile(contract: Contract): string {
  const { pause } = RETRIES;
  const list = (name: string, type: string, values: (string | number)[]) =>
    `var ${name} = []${type}{${values.map((value) => JSON.stringify(value)).join(', ')}}\n`;
  return [
    `${HEAD}const userAgent = "crossdock-go/${contract.info.version}"\n`,
    '// When a request is sent again. Times are in seconds.\nconst (',
    `\tmaxRetries = ${RETRIES.attempts - 1}`,
    `\tconnectLimit = ${RETRIES.connect_seconds}`,
    `\tattemptLimit = ${RETRIES.attempt_seconds}`,
    `\tlastAttemptLimit = ${RETRIES.last_attempt_seconds}`,
    `\tfirstPause = ${pause.first_seconds}`,
    `\tpauseFactor = ${pause.factor}`,
    `\tlongestPause = ${pause.longest_seconds}`,
    `\tpauseJitter = ${pause.jitter}`,
    `\tlongestRetryAfter = ${RETRIES.retry_after.longest_seconds}\n)\n`,
    `// Pre-alerts per request of a batch.\nconst batchLines = ${RETRIES.batch_lines}\n`,
    '// The service has not executed the request.',
    list('retryAlways', 'int', statusesOf('always')),
    list('retryCodes', 'Code', retriedCodes()),
    '// The service may have executed the request.',
    list('retryRepeatable', 'int', statusesOf('repeatable')),
    '// The operations that must not be executed twice, and take no Idempotency-Key.',
    list('notRepeatable', 'string', notRepeatable(contract)),
    '// The operations that respond with a file.',
    list('filePaths', 'string', filePaths(contract)),
  ].join('\n');
}
