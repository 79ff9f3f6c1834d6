// Finds the texts of openapi/errors.yaml in a failure. Reads the YAML file and not the generated code, so that the check
// does not depend on the generator.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const { codes, fields } = parse(readFileSync(join(root, 'openapi/errors.yaml'), 'utf8'));

/** The names and texts of the problems with each code of a field. */
const problemsByCode = new Map();
for (const [name, problem] of Object.entries(fields)) {
  const code = problem.code ?? name;
  problemsByCode.set(code, [...(problemsByCode.get(code) ?? []), [name, problem]]);
}

/** The names and texts of the variants of each code of a failure. */
const variantsOfCode = new Map(
  Object.entries(codes).map(([code, { message, example, variants }]) => [
    code,
    Object.entries(variants ?? { default: { message, example } }),
  ]),
);

/** @returns what is wrong with a failure's status and messages, and which texts it contains */
export function matchFailure(status, body) {
  const known = codes[body.code];
  if (!known) return { faults: [`errors.yaml has no code ${body.code}`], texts: [] };
  const entries = (body.errors ?? []).map((entry) => ({ entry, problems: problemsOf(entry) }));
  const problems = wordProblems(body.errors);
  const variants = variantsOfCode
    .get(body.code)
    .filter(([, text]) => patternOf(text, problems).test(body.message))
    .map(([name]) => name);
  const faults = [
    ...(known.status === status ? [] : [`${body.code} has the status ${known.status} in errors.yaml`]),
    ...(variants.length > 0 ? [] : [`errors.yaml has no message of ${body.code} like "${body.message}"`]),
    ...entries
      .filter(({ problems }) => problems.length === 0)
      .map(({ entry }) => `errors.yaml has no problem ${entry.code} like "${entry.message}"`),
  ];
  return { faults, texts: textsOf(body.code, variants, entries) };
}

/** Returns texts such as `permission_denied default`, and `validation_failed rates[].fee minimum` for each entry. */
const textsOf = (code, variants, entries) => [
  ...variants.map((variant) => `${code} ${variant}`),
  ...entries.flatMap(({ entry, problems }) =>
    problems.map((problem) => `${code} ${entry.field.replace(/\[\d+\]/g, '[]')} ${problem}`),
  ),
];

function problemsOf({ field, row, code, message }) {
  const prefix = row === undefined ? '' : `Row ${row}: `;
  if (!message.startsWith(prefix)) return [];
  const own = message.slice(prefix.length);
  return (problemsByCode.get(code) ?? [])
    .filter(([, problem]) => patternOf(problem, undefined, field).test(own))
    .map(([name]) => name);
}

/** Returns the first three messages and the number of others; undefined without entries. */
function wordProblems(errors = []) {
  if (errors.length === 0) return undefined;
  const more = errors.length > 3 ? ` See errors for ${errors.length - 3} more.` : '';
  return (
    errors
      .slice(0, 3)
      .map(({ message }) => message)
      .join(' ') + more
  );
}

const NUMBER = '-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?';

/** Most failures have the same few texts and fields, and compiling a pattern takes longer than matching it. */
const patterns = new Map();
/** A fuzzer invents field names. */
const MAX_FIELDS = 1_000;

/** @param text a message of errors.yaml with its example, always the same object */
function patternOf(text, problems, field) {
  if (text.message.includes('{problems}')) return compile(text, problems, field);
  const ofText = patterns.get(text) ?? new Map();
  patterns.set(text, ofText);
  const pattern = ofText.get(field) ?? compile(text, problems, field);
  if (ofText.size < MAX_FIELDS) ofText.set(field, pattern);
  return pattern;
}

function compile({ message, example = {} }, problems, field) {
  const given = { problems, field };
  const parts = message.split(/\{(\w+)\}/).map((part, index) => {
    if (index % 2 === 0) return escape(part);
    if (part in given) return given[part] === undefined ? '(?!)' : escape(given[part]);
    return typeof example[part] === 'number' ? NUMBER : '[^]+?';
  });
  return new RegExp(`^${parts.join('')}$`);
}

const escape = (text) => text.replace(/[\\^$*+?.()|[\]{}]/g, '\\$&');
