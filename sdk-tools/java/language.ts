import { mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../src/config/project-root.js';
import { readContract, type Contract } from '../contract.js';
import { failureCodes } from '../failure-codes.js';
import type { Language } from '../language.js';
import { runOpenapiGenerator } from '../openapi-generator.js';
import { layerOf, type Layer } from '../layer/model.js';
import { operationsOf } from '../operations.js';
import { largestPageOfOperation, PAGE_SIZE } from '../parts/page-size.js';
import { writePackageFiles } from '../parts/package-files.js';
import { copyProgram, requireEntries, requireFiles } from '../packed/programs.js';
import { filePaths, notRepeatable } from '../repeatable.js';
import { writeReference, type CallStyle } from '../parts/reference.js';
import { RETRIES, retriedCodes, statusesOf } from '../retries.js';
import { findTools, runTool } from '../tool.js';
import { javaLayer } from './layer.js';

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
    for (const [path, text] of Object.entries(javaLayer(layerOf(contract)))) {
      const file = join(folder, 'generated', 'src', 'main', 'java', 'example', 'crossdock', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    await writePackageFiles(folder);
    await writeReference(folder, 'Java', styleOfCall(layerOf(contract)));
    await runTool({ program: 'mvn', args: ['-q', '-B', 'package'], folder });
  },
  scenario: { program: 'java', args: ['-cp', CLASS_PATH, 'scenario/Scenario.java'], folder },
  async install(project) {
    const repository = pathToFileURL(join(project, 'repository')).href;
    // With sources and documentation, as a public repository demands them.
    const deploy = ['-Prelease', '-DskipTests', 'package', 'deploy:deploy'];
    const args = ['-q', '-B', ...deploy, `-DaltDeploymentRepository=packed::${repository}`];
    await runTool({ program: 'mvn', args, folder });
    const { version } = (await readContract()).info;
    const deployed = join(project, 'repository', 'example', 'crossdock', 'crossdock', version);
    const jar = (kind = '') => `crossdock-${version}${kind}.jar`;
    requireFiles(deployed, [jar(), jar('-sources'), jar('-javadoc')]);
    const list = await runTool({ program: 'jar', args: ['-tf', jar()], folder: deployed });
    requireEntries(jar(), list, ['META-INF/LICENSE', 'META-INF/CHANGELOG.md', 'META-INF/REFERENCE.md']);
    await writeFile(join(project, 'settings.xml'), '<settings/>');
    await writeFile(join(project, 'pom.xml'), consumerPom(version, repository));
    const local = ['-s', 'settings.xml', `-Dmaven.repo.local=${join(project, 'm2')}`];
    const copy = [
      `${DEPENDENCY_PLUGIN}:copy-dependencies`,
      '-DoutputDirectory=lib',
      '-DincludeScope=runtime',
    ];
    await runTool({ program: 'mvn', args: ['-q', '-B', ...local, ...copy], folder: project });
    await copyProgram('java', 'Program.java', project);
    return { program: 'java', args: ['-cp', join('lib', '*'), 'Program.java'], folder: project };
  },
};

/** The operations of the layer are methods of services, all others those of the generated classes. */
const styleOfCall =
  ({ operations }: Layer): CallStyle =>
  ({ operation: { id, tag }, group, method }) => {
    const found = operations.find((each) => each.id === id);
    if (id === 'listEvents') return 'crossdock.events().list(after)';
    if (!found) return `new ${tag}Api(crossdock.apiClient()).${id}(...)`;
    return `crossdock.${group}().${method}(${found.input ? `new ${found.input.name}()` : ''})`;
  };

const DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1';

/**
 * A project that has the SDK from a repository in a folder. All else comes from what the build of the SDK has downloaded, so that the
 * project needs no registry.
 */
function consumerPom(version: string, repository: string): string {
  const downloaded = pathToFileURL(join(homedir(), '.m2', 'repository')).href;
  const of = (name: string, id: string, url: string) => `<${name}><id>${id}</id><url>${url}</url></${name}>`;
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>packed</groupId>
  <artifactId>packed</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>example.crossdock</groupId>
      <artifactId>crossdock</artifactId>
      <version>${version}</version>
    </dependency>
  </dependencies>
  <repositories>
    ${of('repository', 'packed', repository)}
    ${of('repository', 'central', downloaded)}
  </repositories>
  <pluginRepositories>
    ${of('pluginRepository', 'central', downloaded)}
  </pluginRepositories>
</project>
`;
}

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
    'package example.crossdock;\n\nimport java.util.List;\nimport java.util.Set;\n',
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
    constant('int', 'PAGE_SIZE', String(PAGE_SIZE)),
    constant('int', 'LARGEST_EVENT_PAGE', String(largestPageOfOperation(contract, 'listEvents'))),
    set('String', 'FILE_PATHS', filePaths(contract)),
    constant(
      'List<String>',
      'OPERATIONS',
      `List.of(\n${operationsOf(contract)
        .map(({ method, path, id }) => `      "${method} ${path} ${id}"`)
        .join(',\n')})`,
    ),
    '}\n',
  ].join('\n');
}
