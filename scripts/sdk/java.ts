import { rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import { failureCodes } from './failure-codes.js';
import type { Language } from './language.js';
import { runOpenapiGenerator } from './openapi-generator.js';
import { findTools, runTool } from './tool.js';

const folder = join(projectRoot, 'sdk', 'java');

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
    await runOpenapiGenerator(['-c', 'openapi-generator.yaml', '-i', document], folder);
    const file = join(folder, 'src', 'main', 'java', 'example', 'crossdock', 'FailureCode.java');
    await writeFile(file, codesFile(await failureCodes()));
    await runTool({ program: 'mvn', args: ['-q', '-B', 'package'], folder });
  },
  scenario: { program: 'java', args: ['-cp', CLASS_PATH, 'scenario/Scenario.java'], folder },
};

function codesFile(codes: string[]): string {
  const rows = codes.map((code) => `  public static final String ${code.toUpperCase()} = "${code}";`);
  return `package example.crossdock;\n\n/** The codes of failures. Generated from the contract. */\npublic final class FailureCode {\n  private FailureCode() {}\n\n${rows.join('\n')}\n}\n`;
}
