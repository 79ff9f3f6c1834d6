import {
  OPENAPI_GENERATOR_VERSION,
  openapiGeneratorTools,
  runOpenapiGenerator,
} from '../openapi-generator.js';
import { findTools, runTool } from '../tool.js';
import type { Generator } from './generator.js';

const PHP = ['-g', 'php', '-o', 'client'];

/** Succeeds if the HTTP library of the generated client is on PHP's include path, where Linux distributions install it. */
const FIND_GUZZLE = ['-r', 'exit(stream_resolve_include_path("GuzzleHttp/autoload.php") ? 0 : 1);'];

async function hasGuzzle(): Promise<boolean> {
  return 'found' in (await findTools(['php', ...FIND_GUZZLE]));
}

export const openapiGeneratorPhp: Generator = {
  name: 'php',
  title: 'php',
  version: OPENAPI_GENERATOR_VERSION,
  command: `openapi-generator-cli generate -i openapi.json ${PHP.join(' ')}`,
  async toolchain() {
    const composer: [string, string][] = (await hasGuzzle()) ? [] : [['composer', '--version']];
    return openapiGeneratorTools(['php', '--version'], ...composer);
  },
  generate: (folder) => runOpenapiGenerator(['-i', 'openapi.json', ...PHP], folder),
  async compile(folder) {
    const install = ['install', '--no-dev', '--no-interaction', '--quiet', '--working-dir', 'client'];
    if (!(await hasGuzzle())) await runTool({ program: 'composer', args: install, folder });
    // PHP has no compiler. This loads every class.
    await runTool({ program: 'php', args: ['load-all.php', 'client/lib'], folder });
  },
  scenario: (folder) => ({ program: 'php', args: ['scenario.php'], folder }),
};
