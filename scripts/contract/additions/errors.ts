// Converts openapi/errors.yaml for `npm run generate` to the failure responses of a bundled contract, the schema FailureCode,
// and the runtime catalogue.
import { mapEntries, mapValues } from '../document/records.js';

/** Validates the source and returns each code with its variants, and each variant with the arguments of its example. */
export function readErrors(written) {
  for (const [code, entry] of Object.entries(written.codes)) {
    assertKeys(code, entry, ['status', 'description', 'cause', 'cure', 'variants', ...VARIANT_KEYS]);
    if (!entry.cause || !entry.cure) throw new Error(`errors.yaml, ${code}: write a cause and a cure.`);
    for (const variant of Object.values(entry.variants ?? {})) assertKeys(code, variant, VARIANT_KEYS);
  }
  for (const [name, entry] of Object.entries(written.fields))
    assertKeys(name, entry, ['code', 'message', 'example', 'pattern', 'format']);
  const source = normalise(written);
  for (const [code, { variants }] of Object.entries(source.codes))
    for (const [name, { message, args }] of Object.entries(variants)) fill(message, args, `${code} ${name}`);
  for (const [name, { message, args }] of Object.entries(source.fields)) fill(message, args, name);
  return source;
}

const VARIANT_KEYS = ['message', 'example', 'errors'];

/** In YAML, a comma in an unquoted text turns the rest into a key. */
function assertKeys(name, entry, known) {
  const unknown = Object.keys(entry).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new Error(`errors.yaml, ${name}: unknown key ${unknown.join(', ')}`);
}

function normalise({ codes, fields, common, groups }) {
  const read = Object.entries(codes).map(
    ([code, { status, description, cause, cure, message, example, errors, variants }]) => {
      const written = variants ?? { default: { message, example, errors } };
      return [code, { status, description, cause, cure, variants: mapValues(written, readVariant) }];
    },
  );
  return {
    codes: Object.fromEntries(read),
    fields: mapEntries(fields, (name, { code = name, message, example = {}, pattern, format }) => ({
      ...{ code, message, args: example, pattern, format },
    })),
    common,
    groups,
  };
}

const readVariant = ({ message, example = {}, errors }) => ({ message, args: example, errors });

/** Returns the placeholders of a message, without those that the service always fills in. */
const placeholdersOf = (message) =>
  [...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).filter((name) => !FILLED.has(name));
const FILLED = new Set(['problems', 'field']);

/** Returns a message with its placeholders filled in. @throws if arguments are missing or unknown */
export function fill(message, args, what) {
  const names = new Set(placeholdersOf(message));
  for (const name of [...names, ...Object.keys(args)])
    if (!names.has(name) || args[name] === undefined)
      throw new Error(`${what}: {${name}} is not both in the message and among its arguments.`);
  return message.replace(/\{(\w+)\}/g, (whole, name) => (name in args ? String(args[name]) : whole));
}

/** Returns an entry of `errors` for `{ field, problem, row, ...args }`. */
function fieldError({ fields }, { field, problem, row, ...given }) {
  const found = fields[problem];
  if (!found) throw new Error(`errors.yaml has no field problem ${problem}.`);
  const args = { ...pick(found.args, placeholdersOf(found.message)), ...given };
  const message = fill(found.message, args, problem).replaceAll('{field}', field);
  if (row === undefined) return { field, code: found.code, message };
  return { field, row, code: found.code, message: `Row ${row}: ${message}` };
}

const pick = (record, names) => Object.fromEntries(names.map((name) => [name, record[name]]));

/** Returns the text for `{problems}`, the same as src/platform/errors/errors.ts. */
function wordProblems(errors) {
  const more = errors.length > 3 ? [`See errors for ${errors.length - 3} more.`] : [];
  return [...errors.slice(0, 3).map(({ message }) => message), ...more].join(' ');
}

/** Returns the body of a failure response. */
export function failureBody(source, { code, variant = 'default', args = {}, errors: named }, word) {
  const found = source.codes[code]?.variants[variant];
  if (!found) throw new Error(`errors.yaml has no ${code} with the variant ${variant}.`);
  const errors = (named ?? found.errors)?.map((each) => fieldError(source, each));
  const message = fill(found.message, { ...found.args, ...args }, `${code} ${variant}`);
  return {
    status: word,
    message: message.replace('{problems}', () => wordProblems(errors)),
    code,
    doc_url: `/docs/errors#${code}`,
    ...(errors ? { errors } : {}),
    request_id: '01930a3e-7c1d-7e11-9c5a-2f4b8d6e0f01',
    timestamp: 1795249800,
  };
}

/** Returns the schema FailureCode: the enumeration of codes, and a table that describes them. */
export function failureCodeSchema({ codes }) {
  const statuses = [...new Set(Object.values(codes).map(({ status }) => status))];
  const rows = statuses.flatMap((status) =>
    Object.entries(codes)
      .filter(([, code]) => code.status === status)
      .map(([name, { description }]) => `| ${status} | \`${name}\` | ${description} |`),
  );
  return {
    type: 'string',
    description: [
      'The stable, machine-readable reason of a failure. New codes may be added within version 1: treat a code that you do',
      'not know by its HTTP status.',
      '',
      '| HTTP | Code | Meaning |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n'),
    enum: Object.keys(codes),
  };
}

/** Returns the runtime catalogue: messages, statuses, and the arguments of each message. */
export function runtimeCatalogue({ codes, fields }) {
  const messages = mapValues(codes, ({ status, variants }) => ({
    status,
    messages: mapValues(variants, ({ message }) => message),
  }));
  const problems = mapValues(fields, ({ code, message }) => ({ code, message }));
  const named = (keyword) =>
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

const isPlain = ({ message }) => placeholdersOf(message).length === 0;

const plainCodes = (codes) =>
  Object.keys(codes).filter((code) => {
    const { default: first } = codes[code].variants;
    return first && isPlain(first) && !first.message.includes('{problems}');
  });

/** Returns one line per group of codes and variants with the same arguments. */
function specsOf(codes) {
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

function variantType(found) {
  const names = found.map(([name]) => name);
  return `variant${names.includes('default') ? '?' : ''}: ${names.map((name) => `'${name}'`).join(' | ')}; `;
}

const optionsOf = (variant) =>
  [
    ...(isPlain(variant) ? [] : [`args: ${typeOfArguments(variant)}`]),
    `errors${variant.message.includes('{problems}') || variant.errors ? '' : '?'}: Entry[]`,
  ].join('; ');

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const plainProblems = (fields) => Object.keys(fields).filter((name) => isPlain(fields[name]));

const problemsOf = (fields) =>
  Object.entries(fields)
    .filter(([, field]) => !isPlain(field))
    .map(([name, field]) => `  | [problem: '${name}', args: ${typeOfArguments(field)}]`);

const typeOfArguments = ({ message, args }) =>
  `{ ${[...new Set(placeholdersOf(message))].map((name) => `${name}: ${typeof args[name]}`).join('; ')} }`;

const union = (names, indent = '  ') => names.map((name) => `\n${indent}| '${name}'`).join('');
