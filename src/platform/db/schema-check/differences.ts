import { describeChange, type Change } from './remedies.js';
import { keyOf, type SchemaLine } from './schema-lines.js';

/** A difference between the schema and what the migrations make. */
export type SchemaDifference = {
  /** Whether staging and production must not serve with it. */
  isDangerous: boolean;
  message: string;
  remedy: string;
};

/** Kinds of lines whose surplus is not dangerous: an operator may add columns, constraints and rights of other roles. */
const HARMLESS_SURPLUS = ['column', 'constraint', 'unique index', 'other grant', 'view'];

/** Compares two descriptions of a schema. Returns one difference per object and property. */
export function findDifferences(expected: SchemaLine[], actual: SchemaLine[]): SchemaDifference[] {
  const [known, found] = [containersOf(expected), containersOf(actual)];
  /** Whether a line belongs to a table or function of which only one side has any, so that one line is enough. */
  const isCovered = (line: SchemaLine): boolean => {
    const container = containerOf(line);
    if (container === undefined || known.has(container) === found.has(container)) return false;
    return !isContainer(line);
  };
  const wanted = new Map(expected.map((line) => [keyOf(line), line]));
  const present = new Map(actual.map((line) => [keyOf(line), line]));
  const changes = [...new Set([...wanted.keys(), ...present.keys()])].sort().flatMap((key): Change[] => {
    const [want, have] = [wanted.get(key), present.get(key)];
    const line = want ?? have;
    if (!line || want?.value === have?.value || isCovered(line)) return [];
    return [{ kind: line.kind, object: line.object, want: want?.value, have: have?.value }];
  });
  return changes.map((change) => ({
    ...describeChange(change),
    isDangerous: isDangerous(change),
  }));
}

function isDangerous({ kind, want, have }: Change): boolean {
  if (want !== undefined) return true;
  // An unknown table or function. The function is dangerous if it has the rights of its owner.
  if (kind === 'row-level security') return false;
  if (kind === 'function security') return have?.startsWith('security definer') ?? false;
  return !HARMLESS_SURPLUS.includes(kind);
}

/** Whether it is the one line of a table or a function. */
const isContainer = ({ kind }: SchemaLine): boolean =>
  kind === 'row-level security' || kind === 'function security';

const containersOf = (lines: SchemaLine[]): Set<string> =>
  new Set(lines.filter(isContainer).map(({ object }) => object));

/** Returns the table or function that a line is about; undefined for roles and schemas. */
function containerOf({ kind, object }: SchemaLine): string | undefined {
  switch (kind) {
    case 'policy':
    case 'trigger':
    case 'rule':
    case 'constraint':
    case 'unique index':
      return object.slice(object.lastIndexOf(' on ') + ' on '.length);
    case 'column':
      return object.slice(0, object.lastIndexOf('.'));
    case 'grant':
    case 'other grant': {
      const [, type, name = ''] = / on (\w+) (.+) to \S+$/.exec(object) ?? [];
      return type === 'column' ? name.slice(0, name.lastIndexOf('.')) : name;
    }
    case 'owner':
      return object.replace(/^(table|function) /, '');
    case 'row-level security':
    case 'function body':
    case 'function kind':
    case 'function security':
      return object;
    default:
      return undefined;
  }
}
