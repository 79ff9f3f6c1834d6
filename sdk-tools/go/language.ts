import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { zipSync } from 'fflate';
import { projectRoot } from '../../src/config/project-root.js';
import { readContract, type Contract } from '../contract.js';
import { failureCodes } from '../failure-codes.js';
import type { Language } from '../language.js';
import { layerOf, upper, type Layer } from '../layer/model.js';
import { operationsOf } from '../operations.js';
import { writePackageFiles } from '../parts/package-files.js';
import { copyProgram, PACKAGE_FILES, requireFiles } from '../packed/programs.js';
import { largestPageOfOperation, PAGE_SIZE } from '../parts/page-size.js';
import { filePaths, notRepeatable } from '../repeatable.js';
import { goLayer } from './layer.js';
import { writeReference, type CallStyle } from '../parts/reference.js';
import { RETRIES, retriedCodes, statusesOf } from '../retries.js';
import { findTools, runTool } from '../tool.js';

const folder = join(projectRoot, 'sdk', 'go');

const MODULE = 'crossdock.example/go/crossdock';

/** Generates the package api with oapi-codegen and what follows from the contract, compiles, and runs the tests. */
export const go: Language = {
  name: 'go',
  title: 'Go',
  toolchain: () => findTools(['go', 'version']),
  async build() {
    await writeFile(join(folder, 'codes.gen.go'), codesFile(await failureCodes()));
    const contract = await readContract();
    await writeFile(join(folder, 'retries.gen.go'), retriesFile(contract));
    for (const [name, text] of Object.entries(goLayer(layerOf(contract))))
      await writeFile(join(folder, name), text);
    await runTool({ program: 'gofmt', args: ['-w', ...GENERATED], folder });
    await writePackageFiles(folder);
    await writeReference(folder, 'Go', styleOfCall(layerOf(contract)));
    const steps = [
      ['generate', './...'],
      ['vet', './...'],
      ['test', './...'],
      ['build', '-o', 'bin/', './...'],
    ];
    for (const args of steps) await runTool({ program: 'go', args, folder });
  },
  scenario: { program: join(folder, 'bin', 'scenario'), args: [], folder },
  async install(project) {
    const { version } = (await readContract()).info;
    await writeModule(join(project, 'proxy'), `v${version}`);
    const ask = async (name: string) =>
      (await runTool({ program: 'go', args: ['env', name], folder: project })).trim();
    // The dependencies come from those that the build has downloaded, or from where it would.
    const downloaded = pathToFileURL(join(await ask('GOMODCACHE'), 'cache', 'download')).href;
    const env = {
      GOPROXY: [pathToFileURL(join(project, 'proxy')).href, downloaded, await ask('GOPROXY')].join(','),
      GONOSUMDB: `${MODULE},${await ask('GONOSUMDB')}`,
      GOFLAGS: '-mod=mod -modcacherw',
      GOMODCACHE: join(project, 'modules'),
    };
    const requires = `require ${MODULE} v${version}`;
    await writeFile(join(project, 'go.mod'), `module packed\n\ngo 1.24.0\n\n${requires}\n`);
    await copyFile(join(folder, 'go.sum'), join(project, 'go.sum'));
    await copyProgram('go', 'main.go', project);
    await runTool({ program: 'go', args: ['build', '-o', 'packed', 'main.go'], folder: project }, env);
    requireFiles(join(project, 'modules', `${MODULE}@v${version}`), PACKAGE_FILES);
    return { program: join(project, 'packed'), args: [], folder: project };
  },
};

/** The operations of the layer are methods of services, all others those of the package api. */
const styleOfCall =
  ({ operations }: Layer): CallStyle =>
  ({ operation: { id }, group, method }) => {
    const found = operations.find((each) => each.id === id);
    if (id === 'listEvents') return 'client.Events.List(ctx, EventQuery{})';
    if (!found) return `client.${upper(id)}WithResponse(ctx, ...)`;
    return `client.${upper(group)}.${upper(method)}(ctx${found.input ? `, ${found.input.name}{}` : ''})`;
  };

/** Writes the module as a module proxy serves it: a folder with the list of versions, and three files of each. */
async function writeModule(proxy: string, version: string): Promise<void> {
  const place = join(proxy, MODULE, '@v');
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'list'), `${version}\n`);
  await writeFile(
    join(place, `${version}.info`),
    JSON.stringify({ Version: version, Time: '2026-01-01T00:00:00Z' }),
  );
  await copyFile(join(folder, 'go.mod'), join(place, `${version}.mod`));
  const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll('\\', '/'))
    // The programs that only test the SDK, and what they are built into.
    .filter((path) => !/^(bin|scenario|faults)\//.test(path));
  const entries: Record<string, Uint8Array> = {};
  for (const path of files) entries[`${MODULE}@${version}/${path}`] = await readFile(join(folder, path));
  await writeFile(join(place, `${version}.zip`), zipSync(entries));
}

const GENERATED = ['retries.gen.go', 'types.gen.go', 'services.gen.go', 'events.gen.go'];

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
    `// Records per page of a list, and the most events of one.\nconst (\n\tpageSize = ${PAGE_SIZE}\n\tlargestEventPage = ${largestPageOfOperation(contract, 'listEvents')}\n)\n`,
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
    '// The operations of the contract.',
    'var operations = []struct{ method, path, id string }{',
    ...operationsOf(contract).map(({ method, path, id }) => `\t{"${method}", "${path}", "${id}"},`),
    '}\n',
  ].join('\n');
}
