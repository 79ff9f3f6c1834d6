import { textLike } from './setting-validators.js';
import { withSecretFiles } from './secret-files.js';

/** A database of several that contain the tenants. */
export type CellConfig = { name: string; url: string };

/** The name of the cell of DATABASE_URL, unless DATABASE_CELL states another. */
export const HOME_CELL = 'main';

const CELLS_EXPECTED =
  'must be name=postgres://… pairs joined by commas, each name lower-case letters, digits and hyphens; encode a comma of a password as %2C';
const CELLS = /^[a-z0-9-]{1,30}=postgres(ql)?:\/\/[^,\s]+(,\s*[a-z0-9-]{1,30}=postgres(ql)?:\/\/[^,\s]+)*$/;

export const cellName = textLike(/^[a-z0-9-]{1,30}$/, 'must be lower-case letters, digits and hyphens');
export const cellUrls = textLike(CELLS, CELLS_EXPECTED);

/** Returns the cells of a setting of the form `name=url,name=url`. */
export const toCells = (value: string | undefined): CellConfig[] =>
  (value && CELLS.test(value) ? value.split(',') : []).map((item) => {
    const equals = item.indexOf('=');
    return { name: item.slice(0, equals).trim(), url: item.slice(equals + 1).trim() };
  });

/** Returns one line per fault of the settings of cells. */
export function cellFaults(home: string, cells: CellConfig[]): string[] {
  const names = [home, ...cells.map(({ name }) => name)];
  const doubled = names.filter((name, index) => names.indexOf(name) !== index);
  const unusable = cells.filter(({ url }) => !URL.canParse(url)).map(({ name }) => name);
  return [
    ...doubled.map(
      (name) =>
        `DATABASE_CELLS names the cell ${name} twice; DATABASE_CELL is the name of the cell of DATABASE_URL`,
    ),
    ...unusable.map(
      (name) =>
        `DATABASE_CELLS has no usable URL of the cell ${name}; encode special characters of the password`,
    ),
  ];
}

/**
 * Returns the owner's connection of every cell by its name: DATABASE_OWNER_URL, and DATABASE_OWNER_CELLS for the other cells.
 *
 * @throws Error when one is missing or not a URL
 */
export function readOwnerCells(env: NodeJS.ProcessEnv = process.env): Map<string, string> {
  const { given, faults } = withSecretFiles(env);
  const {
    DATABASE_CELL: home = HOME_CELL,
    DATABASE_OWNER_URL: url,
    DATABASE_OWNER_CELLS: others = '',
  } = given;
  if (faults.length > 0) throw new Error(faults.join('\n'));
  if (!url) throw new Error(`Set DATABASE_OWNER_URL to the owner's connection of the cell ${home}.`);
  if (!CELLS.test(others)) throw new Error(`DATABASE_OWNER_CELLS ${CELLS_EXPECTED}.`);
  const cells = toCells(others);
  const unusable = cellFaults(home, cells);
  if (unusable.length > 0)
    throw new Error(unusable.join('\n').replaceAll('DATABASE_CELLS', 'DATABASE_OWNER_CELLS'));
  return new Map([[home, url], ...cells.map(({ name, url: other }): [string, string] => [name, other])]);
}
