import {
  OPENAPI_GENERATOR_VERSION,
  openapiGeneratorTools,
  runOpenapiGenerator,
} from '../openapi-generator.js';
import { runTool } from '../tool.js';
import type { Generator } from './generator.js';

const PHP = ['-g', 'php', '-o', 'client'];

export const openapiGeneratorPhp: Generator = {
  name: 'php',
  title: 'php',
  version: OPENAPI_GENERATOR_VERSION,
  command: `openapi-generator-cli generate -i openapi.json ${PHP.join(' ')}`,
  toolchain: () => openapiGeneratorTools(['php', '--version'], ['composer', '--version']),
  generate: (folder) => runOpenapiGenerator(['-i', 'openapi.json', ...PHP], folder),
  async compile(folder) {
    const install = ['install', '--no-dev', '--no-interaction', '--quiet', '--working-dir', 'client'];
    await runTool({ program: 'composer', args: install, folder });
    // PHP has no compiler. This loads every class.
    await runTool({ program: 'php', args: ['load-all.php', 'client/lib'], folder });
  },
  scenario: (folder) => ({ program: 'php', args: ['scenario.php'], folder }),
};
