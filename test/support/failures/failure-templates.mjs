// Finds the texts of openapi/errors.yaml in a failure. Reads the YAML file and not the generated code, so that the check
// does not depend on the generator.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const { codes, fields } = parse(readFileSync(join(root, 'openapi/errors.yaml'), 'utf8'));

const variantsOf = ({ message, example, variants }) =>
  Object.entries(variants ?? { default: { message, example } });

/** @returns what is wrong with a failure's status and messages, and which texts it contains */
export function matchFailure(status, body) {
  const known = codes[body.code];
  if (!known) return { faults: [`errors.yaml has no code ${body.code}`], texts: [] };
  const entries = (body.errors ?? []).map((entry) => ({ entry, problems: problemsOf(entry) }));
  const variants = variantsOf(known)
    .filter(([, { message, example }]) =>
      patternOf(message, example, wordProblems(body.errors)).test(body.message),
    )
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
  return Object.entries(fields)
    .filter(([name, problem]) => (problem.code ?? name) === code)
    .filter(([, problem]) => patternOf(problem.message, problem.example, undefined, field).test(own))
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

/** Most failures have the same few messages and fields, and compiling a pattern takes longer than matching it. */
const patterns = new Map();
/** A fuzzer invents field names. */
const MAX_PATTERNS = 10_000;

function patternOf(message, example, problems, field) {
  if (message.includes('{problems}')) return compile(message, example, problems, field);
  const key = JSON.stringify([message, example, field]);
  const pattern = patterns.get(key) ?? compile(message, example, problems, field);
  if (patterns.size < MAX_PATTERNS) patterns.set(key, pattern);
  return pattern;
}

function compile(message, example = {}, problems, field) {
  const given = { problems, field };
  const parts = message.split(/\{(\w+)\}/).map((part, index) => {
    if (index % 2 === 0) return escape(part);
    if (part in given) return given[part] === undefined ? '(?!)' : escape(given[part]);
    return typeof example[part] === 'number' ? NUMBER : '[^]+?';
  });
  return new RegExp(`^${parts.join('')}$`);
}

const escape = (text) => text.replace(/[\\^$*+?.()|[\]{}]/g, '\\$&');
