import { textLike } from './setting-validators.js';

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
 * @param given the settings
 * @throws Error when one is missing or not a URL
 */
export function toOwnerCells(given: NodeJS.ProcessEnv): Map<string, string> {
  const {
    DATABASE_CELL: home = HOME_CELL,
    DATABASE_OWNER_URL: url,
    DATABASE_OWNER_CELLS: others = '',
  } = given;
  if (!url) throw new Error(`Set DATABASE_OWNER_URL to the owner's connection of the cell ${home}.`);
  if (!CELLS.test(others)) throw new Error(`DATABASE_OWNER_CELLS ${CELLS_EXPECTED}.`);
  const cells = toCells(others);
  const faults = cellFaults(home, cells).map((fault) =>
    fault.replaceAll('DATABASE_CELLS', 'DATABASE_OWNER_CELLS'),
  );
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return new Map([[home, url], ...cells.map((cell): [string, string] => [cell.name, cell.url])]);
}
