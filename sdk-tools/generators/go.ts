import { join } from 'node:path';
import {
  OPENAPI_GENERATOR_VERSION,
  openapiGeneratorTools,
  runOpenapiGenerator,
} from '../openapi-generator.js';
import { findTools, runTool } from '../tool.js';
import type { Generator } from './generator.js';

async function compile(folder: string): Promise<void> {
  // The scenario and the generated package are one module, so that the generated go.mod is not needed.
  await runTool({ program: 'go', args: ['mod', 'tidy'], folder });
  await runTool({ program: 'go', args: ['build', '-o', 'scenario', '.'], folder });
}

const scenario = (folder: string) => ({ program: join(folder, 'scenario'), args: [], folder });

const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const OAPI_OPTIONS = ['-generate', 'types,client', '-package', 'client', '-o', 'client/client.gen.go'];

export const oapiCodegen: Generator = {
  name: 'oapi-codegen',
  title: 'oapi-codegen',
  version: '2.8.2',
  command: `go run ${OAPI_CODEGEN} ${OAPI_OPTIONS.join(' ')} openapi.json`,
  toolchain: () => findTools(['go', 'version']),
  async generate(folder) {
    await runTool({ program: 'go', args: ['run', OAPI_CODEGEN, ...OAPI_OPTIONS, 'openapi.json'], folder });
  },
  compile,
  scenario,
};

const GO = [
  ...['-g', 'go', '-o', 'client', '--package-name', 'client', '--global-property', 'apiTests=false'],
  // Two enums can have the same value. A response can have new fields.
  '--additional-properties',
  'enumClassPrefix=true,disallowAdditionalPropertiesIfNotPresent=false,withGoMod=false',
  // The accessor of an optional `api_key` has the name of the field for `has_api_key`.
  ...['--name-mappings', 'has_api_key=HasKey'],
];

export const openapiGeneratorGo: Generator = {
  name: 'go',
  title: 'go',
  version: OPENAPI_GENERATOR_VERSION,
  command: `openapi-generator-cli generate -i openapi.json ${GO.join(' ')}`,
  toolchain: () => openapiGeneratorTools(['go', 'version']),
  generate: (folder) => runOpenapiGenerator(['-i', 'openapi.json', ...GO], folder),
  compile,
  scenario,
};
