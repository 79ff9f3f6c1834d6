import { delimiter, join } from 'node:path';
import {
  OPENAPI_GENERATOR_VERSION,
  openapiGeneratorTools,
  runOpenapiGenerator,
} from '../openapi-generator.js';
import { runTool } from '../tool.js';
import type { Generator } from './generator.js';

const JAVA = ['-g', 'java', '--library', 'native', '-o', 'client'];

export const openapiGeneratorJava: Generator = {
  name: 'java',
  title: 'java',
  version: OPENAPI_GENERATOR_VERSION,
  command: `openapi-generator-cli generate -i openapi.json ${JAVA.join(' ')}`,
  toolchain: openapiGeneratorTools,
  generate: (folder) => runOpenapiGenerator(['-i', 'openapi.json', ...JAVA], folder),
  async compile(folder) {
    const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';
    const options = ['-DoutputDirectory=target/lib', '-DincludeScope=runtime'];
    const args = ['-q', '-B', 'compile', copy, ...options];
    await runTool({ program: 'mvn', args, folder: join(folder, 'client') });
  },
  scenario(folder) {
    const classPath = [join('client', 'target', 'classes'), join('client', 'target', 'lib', '*')].join(
      delimiter,
    );
    return { program: 'java', args: ['-cp', classPath, 'Scenario.java'], folder };
  },
};
