import { join } from 'node:path';
import { projectRoot } from '../src/config/project-root.js';
import type { Toolchain } from './language.js';
import { findTools, runTool } from './tool.js';

export const OPENAPI_GENERATOR_VERSION = '7.25.0';

const folder = join(projectRoot, 'node_modules', '.cache', 'openapi-generator');

type Question = Parameters<typeof findTools>[number];

/** Checks for the tools that OpenAPI Generator needs, and for others. */
export const openapiGeneratorTools = (...others: Question[]): Promise<Toolchain> =>
  findTools(['java', '--version'], ['mvn', '--version'], ...others);

/** Runs OpenAPI Generator in a folder. Maven downloads it once. */
export async function runOpenapiGenerator(args: string[], workFolder: string): Promise<void> {
  const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR_VERSION}:jar`;
  const copy = ['-q', '-B', 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy'];
  await runTool({
    program: 'mvn',
    args: [...copy, `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`],
    folder: projectRoot,
  });
  const jar = join(folder, `openapi-generator-cli-${OPENAPI_GENERATOR_VERSION}.jar`);
  await runTool({ program: 'java', args: ['-jar', jar, 'generate', ...args], folder: workFolder });
}
