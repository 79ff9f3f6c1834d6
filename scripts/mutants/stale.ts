import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/root.js';
import { isSourceMutant, withoutGuard, type Mutant } from './mutant.js';

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
  const missing = tests.filter(({ file }) => !existsSync(join(projectRoot, file)));
  return missing.map(({ file }) => `${name}: ${file} does not exist.`);
}

function faultsOfText(mutant: Mutant): string[] {
  if (!isSourceMutant(mutant)) return [];
  const path = join(projectRoot, mutant.file);
  if (!existsSync(path)) return [`${mutant.name}: ${mutant.file} does not exist.`];
  try {
    withoutGuard(readFileSync(path, 'utf8'), mutant);
    return [];
  } catch (error) {
    return [`${mutant.name}: ${mutant.file}: ${error instanceof Error ? error.message : String(error)}`];
  }
}
