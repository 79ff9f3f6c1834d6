import { rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import { readContract, type Contract } from '../contract.js';
import { failureCodes } from '../failure-codes.js';
import type { Language } from '../language.js';
import { runOpenapiGenerator } from '../openapi-generator.js';
import { filePaths, notRepeatable } from '../repeatable.js';
import { RETRIES, retriedCodes, statusesOf } from '../retries.js';
import { findTools, runTool } from '../tool.js';

const folder = join(projectRoot, 'sdk', 'java');
const sources = join(folder, 'src', 'main', 'java', 'example', 'crossdock');

/** The class path of the scenario and the examples. */
export const CLASS_PATH = [join(folder, 'target', 'classes'), join(folder, 'target', 'lib', '*')].join(
  delimiter,
);

/** Generates the packages api, model and invoker with OpenAPI Generator, compiles, and runs the tests. */
export const java: Language = {
  name: 'java',
  title: 'Java',
  toolchain: () => findTools(['java', '--version'], ['javac', '--version'], ['mvn', '--version']),
  async build() {
    await rm(join(folder, 'generated'), { recursive: true, force: true });
    const document = join(projectRoot, 'generated', 'openapi.sdk.json');
    const contract = await readContract();
    const options = ['-c', 'openapi-generator.yaml', '--artifact-version', contract.info.version];
    await runOpenapiGenerator([...options, '-i', document], folder);
    await writeFile(join(sources, 'FailureCode.java'), codesFile(await failureCodes()));
    await writeFile(join(sources, 'Defaults.java'), defaultsFile(contract));
    await runTool({ program: 'mvn', args: ['-q', '-B', 'package'], folder });
  },
  scenario: { program: 'java', args: ['-cp', CLASS_PATH, 'scenario/Scenario.java'], folder },
};

function codesFile(codes: string[]): string {
  const rows = codes.map((code) => `  public static final String ${code.toUpperCase()} = "${code}";`);
  return `package example.crossdock;\n\n/** The codes of failures. Generated from the contract. */\npublic final class FailureCode {\n  private FailureCode() {}\n\n${rows.join('\n')}\n}\n`;
}

/** The version, the values of sdk/retries.yaml, and which operations may be repeated. */
function defaultsFile(contract: Contract): string {
  const { pause } = RETRIES;
  const constant = (type: string, name: string, value: string) =>
    `  static final ${type} ${name} = ${value};`;
  const set = (type: string, name: string, values: (string | number)[]) =>
    constant(`Set<${type}>`, name, `Set.of(${values.map((value) => JSON.stringify(value)).join(', ')})`);
  return [
    'package example.crossdock;\n\nimport java.util.Set;\n',
    '/** The version, and when a request is sent again. Generated from the contract. */',
    'final class Defaults {\n  private Defaults() {}\n',
    constant('String', 'USER_AGENT', `"crossdock-java/${contract.info.version}"`),
    constant('int', 'MAX_RETRIES', String(RETRIES.attempts - 1)),
    constant('long', 'CONNECT_SECONDS', String(RETRIES.connect_seconds)),
    constant('long', 'ATTEMPT_SECONDS', String(RETRIES.attempt_seconds)),
    constant('long', 'LAST_ATTEMPT_SECONDS', String(RETRIES.last_attempt_seconds)),
    constant('double', 'FIRST_PAUSE_SECONDS', String(pause.first_seconds)),
    constant('double', 'PAUSE_FACTOR', String(pause.factor)),
    constant('double', 'LONGEST_PAUSE_SECONDS', String(pause.longest_seconds)),
    constant('double', 'PAUSE_JITTER', String(pause.jitter)),
    constant('long', 'LONGEST_RETRY_AFTER_SECONDS', String(RETRIES.retry_after.longest_seconds)),
    constant('int', 'BATCH_LINES', String(RETRIES.batch_lines)),
    set('Integer', 'RETRY_ALWAYS', statusesOf('always')),
    set('String', 'RETRY_CODES', retriedCodes()),
    set('Integer', 'RETRY_REPEATABLE', statusesOf('repeatable')),
    set('String', 'NOT_REPEATABLE', notRepeatable(contract)),
    set('String', 'FILE_PATHS', filePaths(contract)),
    '}\n',
  ].join('\n');
}
