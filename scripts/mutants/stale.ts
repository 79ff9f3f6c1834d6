import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import { isSourceMutant, partsOf, withoutGuard, type Mutant } from './mutant.js';

/** Says of each entry of the table what no longer fits the sources, one line for each fault. */
export function faultsOf(mutants: readonly Mutant[]): string[] {
  const names = mutants.map(({ name }) => name);
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...repeated.map((name) => `${name}: the name is used twice.`),
    ...mutants.flatMap((mutant) => [...faultsOfTests(mutant), ...faultsOfText(mutant)]),
  ];
}

function faultsOfTests({ name, tests }: Mutant): string[] {
  if (tests.length === 0) return [`${name}: no test file is named.`];
  return tests.flatMap(({ file, titles = [] }) => {
    if (!existsSync(join(projectRoot, file))) return [`${name}: ${file} does not exist.`];
    const text = read(file) + ROW_TITLES;
    const unknown = titles.flatMap(partsOf).filter((part) => !text.includes(part));
    return unknown.map((part) => `${name}: no title of ${file} holds this: ${part}`);
  });
}

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');

/** The rows that isolation.test.ts makes its titles of. */
const ROW_TITLES = read('test/security/authorization/matrix.ts');

function faultsOfText(mutant: Mutant): string[] {
  if (!isSourceMutant(mutant)) return [];
  if (!existsSync(join(projectRoot, mutant.file))) return [`${mutant.name}: ${mutant.file} does not exist.`];
  try {
    withoutGuard(read(mutant.file), mutant);
    return [];
  } catch (error) {
    return [`${mutant.name}: ${mutant.file}: ${error instanceof Error ? error.message : String(error)}`];
  }
}
