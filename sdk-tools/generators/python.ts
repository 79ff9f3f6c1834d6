import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import {
  OPENAPI_GENERATOR_VERSION,
  openapiGeneratorTools,
  runOpenapiGenerator,
} from '../openapi-generator.js';
import { findTools, runTool } from '../tool.js';
import type { Generator } from './generator.js';

const PYTHON_CLIENT_VERSION = '0.29.0';

/** The generator, and the libraries that the generated clients need, in an environment of their own. */
const PACKAGES = [
  `openapi-python-client==${PYTHON_CLIENT_VERSION}`,
  ...['httpx==0.28.1', 'attrs==26.1.0', 'pydantic==2.14.3', 'urllib3==2.8.0', 'python-dateutil==2.9.0.post0'],
  ...['typing-extensions==4.16.0'],
];

const environment = join(projectRoot, 'node_modules', '.cache', 'sdk-generators', 'python-environment');
const python = join(environment, 'bin', 'python');

async function makeEnvironment(): Promise<void> {
  if (existsSync(join(environment, 'complete'))) return;
  await runTool({ program: 'python3', args: ['-m', 'venv', '--clear', environment], folder: projectRoot });
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PACKAGES];
  await runTool({ program: python, args: install, folder: projectRoot });
  const mark = `open(${JSON.stringify(join(environment, 'complete'))}, "w")`;
  await runTool({ program: python, args: ['-c', mark], folder: projectRoot });
}

/** Python has no compiler. This imports every module. */
const compile = (folder: string) =>
  runTool({ program: python, args: ['import_all.py', 'client'], folder }).then(() => undefined);

const scenario = (folder: string) => ({ program: python, args: ['scenario.py'], folder });

const PYTHON_CLIENT = [
  ...['generate', '--path', 'openapi.json', '--meta', 'none', '--output-path', 'client'],
  // The generator does not know the media types of our files.
  ...['--config', 'config.yaml'],
];

export const openapiPythonClient: Generator = {
  name: 'openapi-python-client',
  title: 'python-client',
  version: PYTHON_CLIENT_VERSION,
  command: `openapi-python-client ${PYTHON_CLIENT.join(' ')}`,
  toolchain: () => findTools(['python3', '--version'], ['python3', '-m', 'venv', '--help']),
  async generate(folder) {
    await makeEnvironment();
    await runTool({ program: python, args: ['-m', 'openapi_python_client', ...PYTHON_CLIENT], folder });
  },
  compile,
  scenario,
};

const PYTHON = ['-g', 'python', '-o', '.', '--package-name', 'client'];

export const openapiGeneratorPython: Generator = {
  name: 'python',
  title: 'python',
  version: OPENAPI_GENERATOR_VERSION,
  command: `openapi-generator-cli generate -i openapi.json ${PYTHON.join(' ')}`,
  toolchain: () => openapiGeneratorTools(['python3', '--version'], ['python3', '-m', 'venv', '--help']),
  async generate(folder) {
    await makeEnvironment();
    await runOpenapiGenerator(['-i', 'openapi.json', ...PYTHON], folder);
  },
  compile,
  scenario,
};
