// openapi/errors.yaml: reads it, words its messages, and makes the schema FailureCode of it.
import type { NamedProblem, Schema } from '../document/openapi.js';
import { mapEntries, mapValues } from '../document/records.js';

/** The values of the placeholders of a message. */
export type Args = Record<string, unknown>;

type WrittenVariant = { message: string; example?: Args; errors?: NamedProblem[] };
type WrittenCode = CodeTexts & { variants?: Record<string, WrittenVariant> } & Partial<WrittenVariant>;
type CodeTexts = { status: number; description: string; cause: string; cure: string };
type WrittenField = { code?: string; message: string; example?: Args; pattern?: string; format?: string };
type Written = {
  codes: Record<string, WrittenCode>;
  fields: Record<string, WrittenField>;
  common: Record<string, string[]>;
  groups: Record<string, string[]>;
};

/** A message with the arguments of its example. */
export type Message = { message: string; args: Args };
export type Variant = Message & { errors: NamedProblem[] | undefined };
export type ErrorCode = CodeTexts & { variants: Record<string, Variant> };
export type FieldMessage = Message & {
  code: string;
  pattern: string | undefined;
  format: string | undefined;
};
/** What openapi/errors.yaml says, with its defaults. */
export type Errors = {
  codes: Record<string, ErrorCode>;
  fields: Record<string, FieldMessage>;
  common: Record<string, string[]>;
  groups: Record<string, string[]>;
};

/** A failure that an operation can have. */
export type Failure = { code: string; variant?: string; args?: Args; errors?: NamedProblem[] };

/** Validates the source and returns each code with its variants, and each variant with the arguments of its example. */
export function readErrors(written: Written): Errors {
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
function assertKeys(name: string, entry: object, known: string[]): void {
  const unknown = Object.keys(entry).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new Error(`errors.yaml, ${name}: unknown key ${unknown.join(', ')}`);
}

const normalise = ({ codes, fields, common, groups }: Written): Errors => ({
  codes: mapEntries(codes, readCode),
  fields: mapEntries(fields, (name, { code = name, message, example: args = {}, pattern, format }) => ({
    code,
    message,
    args,
    pattern,
    format,
  })),
  common,
  groups,
});

function readCode(code: string, { variants, message, example, errors, ...texts }: WrittenCode): ErrorCode {
  const { status, description, cause, cure } = texts;
  if (!variants && message === undefined) throw new Error(`errors.yaml, ${code}: write a message.`);
  const written = variants ?? { default: { message: message ?? '', example, errors } };
  return { status, description, cause, cure, variants: mapValues(written, readVariant) };
}

const readVariant = ({ message, example = {}, errors }: WrittenVariant): Variant => ({
  message,
  args: example,
  errors,
});

/** Returns the placeholders of a message, without those that the service always fills in. */
export const placeholdersOf = (message: string): string[] =>
  [...message.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).filter((name) => !FILLED.has(name));
const FILLED = new Set(['problems', 'field']);

/** Returns a message with its placeholders filled in. @throws if arguments are missing or unknown */
export function fill(message: string, args: Args, what: string): string {
  const names = new Set(placeholdersOf(message));
  for (const name of [...names, ...Object.keys(args)])
    if (!names.has(name) || args[name] === undefined)
      throw new Error(`${what}: {${name}} is not both in the message and among its arguments.`);
  return message.replace(/\{(\w+)\}/g, (whole, name: string) => (name in args ? String(args[name]) : whole));
}

type FieldError = { field: string; row?: number; code: string; message: string };

/** Returns an entry of `errors` for `{ field, problem, row, ...args }`. */
function fieldError({ fields }: Errors, { field, problem, row, ...given }: NamedProblem): FieldError {
  const found = fields[problem];
  if (!found) throw new Error(`errors.yaml has no field problem ${problem}.`);
  const args = { ...pick(found.args, placeholdersOf(found.message)), ...given };
  const message = fill(found.message, args, problem).replaceAll('{field}', field);
  if (row === undefined) return { field, code: found.code, message };
  return { field, row, code: found.code, message: `Row ${row}: ${message}` };
}

const pick = (record: Args, names: string[]): Args =>
  Object.fromEntries(names.map((name) => [name, record[name]]));

/** Returns the text for `{problems}`, the same as src/platform/errors/errors.ts. */
function wordProblems(errors: FieldError[]): string {
  const more = errors.length > 3 ? [`See errors for ${errors.length - 3} more.`] : [];
  return [...errors.slice(0, 3).map(({ message }) => message), ...more].join(' ');
}

/** Returns the body of a failure response. */
export function failureBody(
  source: Errors,
  { code, variant = 'default', args = {}, errors: named }: Failure,
  word: 'fail' | 'error',
) {
  const found = source.codes[code]?.variants[variant];
  if (!found) throw new Error(`errors.yaml has no ${code} with the variant ${variant}.`);
  const errors = (named ?? found.errors)?.map((each) => fieldError(source, each));
  const message = fill(found.message, { ...found.args, ...args }, `${code} ${variant}`);
  return {
    status: word,
    message: message.replace('{problems}', () => wordProblems(errors ?? [])),
    code,
    doc_url: `/docs/errors#${code}`,
    ...(errors ? { errors } : {}),
    request_id: '01930a3e-7c1d-7e11-9c5a-2f4b8d6e0f01',
    timestamp: 1795249800,
  };
}

/** Returns the schema FailureCode: the enumeration of codes, and a table that describes them. */
export function failureCodeSchema({ codes }: Errors): Schema {
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
