// Makes of openapi/bounds.yaml the bounds in the contract, the quotas of the service, and the pages of limits.
import { operationsOf, type Contract, type Operation } from '../document/openapi.js';

/** openapi/bounds.yaml. */
export type Bounds = {
  quotas: Record<string, Quota>;
  unmetered: Record<'reads' | 'endings' | 'replacements', Record<string, Pattern[]>>;
  kinds: Record<string, BoundKind>;
  operations: Record<string, Record<string, string>>;
  held_ms: number;
  limits: { limit: string; value: string; reason: string; source: Source[] }[];
};

/** Fields of a body and their values; null is a field that is not sent. */
type Pattern = Record<string, string | boolean | null>;

type Quota = {
  what: string;
  limit: number;
  period: 'day' | 'hour' | 'refilled';
  per: keyof typeof OWNERS;
  reason: string;
  setting?: string;
};
type BoundKind = {
  writes: string;
  rows: number;
  kib: number;
  items?: number;
  item_rows?: number;
  item_bytes?: number;
};
type Source = { file: string; text: string[] };

/** The names of the media types in bounds.yaml and in the contract are equal. An operation without a body has `query`. */
const placesOf = ({ requestBody }: Operation) => Object.keys(requestBody?.content ?? { query: {} });

/**
 * Adds `x-bounds` to every operation of a bundled contract, and `x-quotas` to the contract.
 *
 * @throws if an operation or one of its media types has no bound, or a bound has no operation
 */
export function addBounds(bundle: Contract, table: Bounds): Contract {
  const left = new Set(Object.keys(table.operations));
  for (const { operation } of operationsOf(bundle.paths)) {
    const id = operation.operationId;
    left.delete(id);
    operation['x-bounds'] = boundsOf(table, id, placesOf(operation));
  }
  if (left.size > 0) throw new Error(`bounds.yaml names unknown operations: ${[...left].join(', ')}.`);
  bundle['x-quotas'] = table.quotas;
  return bundle;
}

function boundsOf(
  { operations, kinds, held_ms: heldMs }: Bounds,
  id: string,
  places: string[],
): Record<string, PublishedBound> {
  const named = operations[id] ?? {};
  if (Object.keys(named).some((place) => !places.includes(place))) throw wrongBounds(id, places);
  const found = places.map((place) => {
    const kind = kinds[named[place] ?? ''];
    if (!kind) throw wrongBounds(id, places);
    return [place, publishedBound(kind, heldMs)] as const;
  });
  return Object.fromEntries(found);
}

const wrongBounds = (id: string, places: string[]) =>
  new Error(`bounds.yaml: ${id} must have one known kind for each of ${places.join(', ')}.`);

type PublishedBound = ReturnType<typeof publishedBound>;

/** Returns the bound with everything that its items add. */
function publishedBound(
  { writes, rows, kib, items = 0, item_rows = 0, item_bytes = 0 }: BoundKind,
  heldMs: number,
) {
  return {
    writes,
    'max-items': items,
    'max-rows': rows + items * item_rows,
    'max-kib': kib + Math.ceil((items * item_bytes) / 1024),
    'max-held-ms': heldMs,
  };
}

/** Returns the module that the service and the tests read. */
export const boundsModule = ({ quotas, unmetered, kinds, operations, held_ms: heldMs }: Bounds): string =>
  `export const QUOTAS = ${JSON.stringify(quotas, null, 2)} as const;\n\n` +
  `/** Which requests do not count against written_bytes, by the fields of their body. */\n` +
  `export type Pattern = Readonly<Record<string, string | boolean | null>>;\n` +
  `export type Unmetered = 'reads' | 'endings' | 'replacements';\n` +
  `export const UNMETERED: Record<Unmetered, Record<string, readonly Pattern[]>> = ${JSON.stringify(unmetered, null, 2)};\n\n` +
  `export const BOUND_KINDS = ${JSON.stringify(kinds, null, 2)} as const;\n\n` +
  `/** The kind of each operation's bound, by media type. */\n` +
  `export const BOUNDS_OF: Record<string, Record<string, keyof typeof BOUND_KINDS>> = ${JSON.stringify(operations, null, 2)};\n\n` +
  `export const HELD_MS = ${heldMs};\n`;

/** Returns whether requests of an operation count against `written_bytes`, if it takes a credential. */
export const isMetered = ({ unmetered, operations }: Bounds, id: string): boolean =>
  Object.entries(operations[id] ?? {}).some(([place, kind]) => place !== 'query' && kind !== 'read') &&
  !Object.values(unmetered).some((patterns) => patterns[id]?.some(isEveryRequest));

const isEveryRequest = (pattern: Pattern) => Object.keys(pattern).length === 0;

const number = (value: number) => value.toLocaleString('en-US');

const table = (head: string[], rows: (string | undefined)[][]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const PERIODS = { day: 'per UTC day', hour: 'per hour', refilled: 'per 24 hours, refilled evenly' };

const OWNERS = {
  courier: 'courier',
  caller: 'courier, or user of the staff',
  staff: 'warehouse operator',
  user: 'user',
};

const quoted = (setting: string) => (setting.includes('`') ? setting : `\`${setting}\``);

/** Returns the table of quotas. */
export const quotaTable = ({ quotas }: Bounds): string =>
  table(
    ['What', 'Limit', 'Counted per', 'Reason'],
    Object.values(quotas).map(({ what, limit, period, per, setting, reason }) => [
      what,
      `${number(limit)} ${PERIODS[period]}${setting ? `, or what the operator sets (${quoted(setting)})` : ''}`,
      OWNERS[per],
      reason,
    ]),
  );

/** Returns the table of what one request can write. */
export function requestTable(bounds: Bounds): string {
  const rows = Object.entries(bounds.operations).flatMap(([id, places]) =>
    Object.entries(boundsOf(bounds, id, Object.keys(places))).map(([place, bound]) => {
      const items = bound['max-items'] === 0 ? '' : number(bound['max-items']);
      const cells = [bound.writes, items, number(bound['max-rows']), `${number(bound['max-kib'])} KiB`];
      return [`\`${id}\``, place, ...cells];
    }),
  );
  return table(['Operation', 'Body', 'Writes', 'Items', 'Rows at most', 'Bytes at most'], rows);
}

/** Returns the table of the other limits. @param withSource whether to quote the code, for readers of the repository */
export const limitTable = ({ limits }: Bounds, withSource: boolean): string =>
  table(
    ['Limit', 'Value', 'Reason', ...(withSource ? ['Source'] : [])],
    limits.map(({ limit, value, reason, source }) => [
      limit,
      value,
      reason,
      ...(withSource ? [source.map(sourceText).join('; ')] : []),
    ]),
  );

const sourceText = ({ file, text }: Source) => `\`${file}\`: ${text.map((each) => `\`${each}\``).join(', ')}`;

/** Returns docs/limits.md. */
export const limitsPage = (bounds: Bounds): string => `# Limits

Generated from \`openapi/bounds.yaml\` by \`npm run generate\`. Do not edit. The instance shows the same at \`/docs/limits\`, and the contract has
the bounds of each operation as \`x-bounds\`. Tests compare this page with the service.

## What one principal can use

Above these limits the response is 429 \`quota_exceeded\`.

${quotaTable(bounds)}

## What one request can write

No request holds the event loop for ${bounds.held_ms} ms or longer. Rows include the audit trail, jobs and counters.

${requestTable(bounds)}

## All other limits

${limitTable(bounds, true)}
`;
