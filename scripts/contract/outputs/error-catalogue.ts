// The module of the messages, statuses and types of all failures: generated/errors.ts.
import {
  placeholdersOf,
  type ErrorCode,
  type Errors,
  type FieldMessage,
  type Message,
  type Variant,
} from '../additions/errors.js';
import { mapValues } from '../document/records.js';

/** Returns the runtime catalogue: messages, statuses, and the arguments of each message. */
export function errorCatalogue({ codes, fields }: Errors): string {
  const messages = mapValues(codes, ({ status, variants }) => ({
    status,
    messages: mapValues(variants, ({ message }) => message),
  }));
  const problems = mapValues(fields, ({ code, message }) => ({ code, message }));
  const named = (keyword: 'pattern' | 'format') =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, field]) => (field[keyword] ? [[field[keyword], name]] : [])),
    );
  return `import type { components } from './contract.js';

type FieldEntry = components['schemas']['FieldError'];

export const errorCatalogue = ${JSON.stringify(messages, null, 2)} as const;

export const fieldCatalogue = ${JSON.stringify(problems, null, 2)} as const;

/** The problems that explain a schema's \`pattern\`, by the pattern. */
export const problemsOfPatterns = ${JSON.stringify(named('pattern'), null, 2)} as const;

/** The problems that explain a schema's \`format\`, by the format. */
export const problemsOfFormats = ${JSON.stringify(named('format'), null, 2)} as const;

/** Codes whose default message takes no arguments. */
export type PlainCode =${union(plainCodes(codes))};

/** A code, its variant and the arguments of its message; \`Detail\` is what every failure can have besides. */
export type ErrorSpec<Entry extends FieldEntry, Detail> =
  | [code: PlainCode, options?: { variant?: 'default'; errors?: Entry[] } & Detail]
${specsOf(codes).join('\n')};

/** A problem of one field and the arguments of its message. */
export type FieldProblem =
  | [problem:${union(plainProblems(fields), '    ')}]
${problemsOf(fields).join('\n')};
`;
}

const isPlain = ({ message }: Message) => placeholdersOf(message).length === 0;

const plainCodes = (codes: Record<string, ErrorCode>) =>
  Object.entries(codes)
    .filter(
      ([
        ,
        {
          variants: { default: first },
        },
      ]) => {
        return first && isPlain(first) && !first.message.includes('{problems}');
      },
    )
    .map(([code]) => code);

/** Returns one line per group of codes and variants with the same arguments. */
function specsOf(codes: Record<string, ErrorCode>): string[] {
  const plain = new Set(plainCodes(codes));
  const lines = Object.entries(codes).flatMap(([code, { variants }]) => {
    const own = Object.entries(variants).filter(([variant]) => variant !== 'default' || !plain.has(code));
    const byOptions = groupBy(own, ([, variant]) => optionsOf(variant));
    return [...byOptions].map(([options, found]) => ({ code, line: `${variantType(found)}${options}` }));
  });
  return [...groupBy(lines, ({ line }) => line)].map(([line, found]) => {
    const named = found.map(({ code }) => `'${code}'`).join(' | ');
    return `  | [code: ${named}, options: { ${line} } & Detail]`;
  });
}

function variantType(found: [string, Variant][]): string {
  const names = found.map(([name]) => name);
  return `variant${names.includes('default') ? '?' : ''}: ${names.map((name) => `'${name}'`).join(' | ')}; `;
}

const optionsOf = (variant: Variant) =>
  [
    ...(isPlain(variant) ? [] : [`args: ${typeOfArguments(variant)}`]),
    `errors${variant.message.includes('{problems}') || variant.errors ? '' : '?'}: Entry[]`,
  ].join('; ');

function groupBy<Item>(items: Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const plainProblems = (fields: Record<string, FieldMessage>) =>
  Object.entries(fields)
    .filter(([, field]) => isPlain(field))
    .map(([name]) => name);

const problemsOf = (fields: Record<string, FieldMessage>) =>
  Object.entries(fields)
    .filter(([, field]) => !isPlain(field))
    .map(([name, field]) => `  | [problem: '${name}', args: ${typeOfArguments(field)}]`);

const typeOfArguments = ({ message, args }: Message) =>
  `{ ${[...new Set(placeholdersOf(message))].map((name) => `${name}: ${typeof args[name]}`).join('; ')} }`;

const union = (names: string[], indent = '  ') => names.map((name) => `\n${indent}| '${name}'`).join('');
