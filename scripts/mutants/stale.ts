import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/config/project-root.js';
import { isSourceMutant, partsOf, withoutGuard, type Mutant } from './mutant.js';

/** Returns a line for each entry of the table that does not match the sources. */
export function problemsOf(mutants: readonly Mutant[]): string[] {
  const names = mutants.map(({ name }) => name);
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...repeated.map((name) => `${name}: the name is used twice.`),
    ...mutants.flatMap((mutant) => [...testProblems(mutant), ...sourceProblems(mutant)]),
  ];
}

function testProblems({ name, tests }: Mutant): string[] {
  if (tests.length === 0) return [`${name}: the entry names no test file.`];
  return tests.flatMap(({ file, titles = [] }) => {
    if (!existsSync(join(projectRoot, file))) return [`${name}: ${file} does not exist.`];
    const text = read(file) + CASE_TITLES;
    const unknown = titles.flatMap(partsOf).filter((part) => !text.includes(part));
    return unknown.map((part) => `${name}: no title in ${file} contains: ${part}`);
  });
}

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');

/** The cases from which isolation.test.ts builds its titles. */
const CASE_TITLES = read('test/security/authorization/matrix.ts');

function sourceProblems(mutant: Mutant): string[] {
  if (!isSourceMutant(mutant)) return [];
  if (!existsSync(join(projectRoot, mutant.file))) return [`${mutant.name}: ${mutant.file} does not exist.`];
  try {
    withoutGuard(read(mutant.file), mutant);
    return [];
  } catch (error) {
    return [`${mutant.name}: ${mutant.file}: ${error instanceof Error ? error.message : String(error)}`];
  }
}
