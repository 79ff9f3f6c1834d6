import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../src/config/project-root.js';
import { runScript } from '../src/commands/run/script.js';
import type { Generator } from './generators/generator.js';
import { GENERATORS } from './generators/generators.js';
import { GENERATOR_STEPS } from './generators/steps.js';
import { runScenario } from './scenario/scenario.js';
import { withService } from './service.js';

const WORK = join(projectRoot, 'node_modules', '.cache', 'sdk-generators');
const PROGRAMS = join(projectRoot, 'test', 'sdk', 'generators');

const COLUMNS = ['generate', 'compile', ...GENERATOR_STEPS.map((_, index) => `step ${index + 1}`)];
const HEAD = ['generator'.padEnd(14), ...COLUMNS.map((column) => column.padEnd(8))].join(' ').trimEnd();

type Row = { generator: Generator; cells: string[]; faults: string[] };

// npm run sdk:generators: with each code generator, generates a client from the contract that a service serves, compiles it,
// and runs a scenario with it. Prints a table. `-- oapi-codegen java` chooses generators, and `--document openapi.json` the
// complete contract instead of openapi.sdk.json.
await runScript(async (print) => {
  const { values, positionals: names } = parseArgs({
    options: { document: { type: 'string', default: 'openapi.sdk.json' } },
    allowPositionals: true,
  });
  const chosen = chooseGenerators(names);
  const rows: Row[] = [];
  await withService(async (url) => {
    for (const generator of chosen) {
      const row = await tryGenerator(generator, url, values.document);
      rows.push(row);
      print(lineOf(row));
      for (const fault of row.faults) print(`  ${fault}`);
    }
  });
  print(`\n${HEAD}`);
  for (const row of rows) print(lineOf(row));
  const failed = rows.filter(({ cells }) => cells.includes('FAILED'));
  if (failed.length > 0)
    throw new Error(`Failed: ${failed.map(({ generator }) => generator.title).join(', ')}.`);
});

function chooseGenerators(names: string[]): Generator[] {
  const unknown = names.filter((name) => !GENERATORS.some((generator) => generator.name === name));
  if (unknown.length > 0) {
    const known = GENERATORS.map(({ name }) => name).join(', ');
    throw new Error(`${unknown.join(', ')} is no generator. Choose from: ${known}.`);
  }
  return names.length === 0 ? GENERATORS : GENERATORS.filter(({ name }) => names.includes(name));
}

async function tryGenerator(generator: Generator, url: string, document: string): Promise<Row> {
  const toolchain = await generator.toolchain();
  if ('missing' in toolchain)
    return { generator, cells: ['skipped'], faults: [`skipped: ${toolchain.missing}`] };
  const folder = await prepareFolder(generator, `${url}/${document}`);
  const cells: string[] = [];
  for (const step of ['generate', 'compile'] as const) {
    try {
      await generator[step](folder);
      cells.push('ok');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { generator, cells: [...cells, 'FAILED'], faults: [`${step}: ${reason.slice(0, 4_000)}`] };
    }
  }
  const client = { name: generator.name, scenario: generator.scenario(folder) };
  const results = await runScenario(client, url, { steps: GENERATOR_STEPS });
  const faults = results.flatMap((fault, index) => (fault ? [`step ${index + 1}: ${fault}`] : []));
  return { generator, cells: [...cells, ...results.map((fault) => (fault ? 'FAILED' : 'ok'))], faults };
}

/** Creates a folder with the scenario program and the contract as the service serves it. */
async function prepareFolder({ name }: Generator, documentUrl: string): Promise<string> {
  const folder = join(WORK, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(join(PROGRAMS, 'shared'), folder, { recursive: true });
  await cp(join(PROGRAMS, name), folder, { recursive: true });
  const response = await fetch(documentUrl);
  if (!response.ok) throw new Error(`${documentUrl} responded with ${response.status}.`);
  await writeFile(join(folder, 'openapi.json'), await response.text());
  return folder;
}

function lineOf({ generator, cells }: Row): string {
  const padded = cells.map((cell) => cell.padEnd(8));
  return [generator.title.padEnd(14), ...padded].join(' ').trimEnd();
}
