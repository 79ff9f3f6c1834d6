import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import { problemsOfFormats, problemsOfPatterns } from '../../../generated/errors.js';
import { fieldError, type FieldError, type FieldProblem } from '../errors/errors.js';
import type { TextRuleProblem } from '../values/text-rules.js';
import { MISSPELLED_KEYWORD, TEXT_KEYWORD } from './keywords.js';

const MAX_ERRORS = 100;

/**
 * Converts Ajv's errors to the contract's `errors`: the field's path and a message that says what to send. Stops after 100
 * errors, because the messages for 10,000 invalid ids took 90 ms.
 *
 * @param actions the operation's values of `action`, which Ajv's error does not contain
 */
export function toFieldErrors(
  found: FastifySchemaValidationError[],
  actions: readonly string[] = [],
): FieldError[] {
  const unique = new Map<string, FieldError>();
  const blank = new Set(found.filter(isBlank).map(({ instancePath }) => instancePath));
  for (const finding of found) {
    if (unique.size === MAX_ERRORS) break;
    if (COMBINING.has(finding.keyword)) continue;
    // An empty text is blank too, and one message is enough.
    if (finding.keyword === 'minLength' && blank.has(finding.instancePath)) continue;
    const error = toFieldError(finding, actions);
    // The rule of a text is checked first, and its message says more than that of a pattern.
    const key = `${error.field} ${error.code}`;
    if (!unique.has(key)) unique.set(key, error);
  }
  return [...unique.values()];
}

const isBlank = ({ keyword, params }: FastifySchemaValidationError) =>
  keyword === 'pattern' && params['pattern'] === String.raw`\S`;

// These keywords only report that a nested schema failed, and Ajv reports that failure separately.
const COMBINING = new Set(['allOf', 'anyOf', 'if']);

function toFieldError(
  { instancePath, keyword, params }: FastifySchemaValidationError,
  actions: readonly string[],
): FieldError {
  const field = fieldOf(instancePath, keyword, params);
  if (keyword === 'discriminator') return fieldError(field, 'enum', { values: actions.join(', ') });
  return fieldError(field, ...problemOf(keyword, params));
}

type Params = Record<string, unknown>;

function fieldOf(instancePath: string, keyword: string, params: Params): string {
  const keys = instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword === 'required') keys.push(String(params['missingProperty']));
  if (keyword === 'discriminator') keys.push(String(params['tag']));
  if (keyword === MISSPELLED_KEYWORD) keys.push(String(params['field']));
  if (keys.length === 0) return 'body';
  return keys.reduce((path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : `${path}.${key}`));
}

/** The problem of errors.yaml that a schema keyword reports. */
function problemOf(keyword: string, params: Params): FieldProblem {
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'required':
    case 'uniqueItems':
      return [keyword];
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
    case 'maxLength':
    case 'maxItems':
      return [keyword, { limit }];
    case 'minLength':
      return limit === 1 ? ['empty'] : ['minLength', { limit }];
    case 'minItems':
      return limit === 1 ? ['one_item'] : ['minItems', { limit }];
    case 'multipleOf':
      return ['multipleOf', { step: Number(params['multipleOf']) }];
    case 'type':
      return ['type', { type: withArticle(params['type']) }];
    case 'enum':
      return ['enum', { values: list(params['allowedValues']) }];
    case 'const':
      return ['const', { value: String(params['allowedValue']) }];
    case 'pattern':
      return problemOfPattern(String(params['pattern']));
    case 'format':
      return problemOfFormat(String(params['format']));
    case MISSPELLED_KEYWORD:
      return ['misspelled_name', { name: String(params['name']) }];
    case TEXT_KEYWORD:
      // The keyword reports the problem and its arguments.
      return [params['problem'], params['args']] as unknown as TextRuleProblem;
    default:
      return ['unacceptable'];
  }
}

const problemOfPattern = (pattern: string): FieldProblem =>
  isKeyOf(problemsOfPatterns, pattern) ? [problemsOfPatterns[pattern]] : ['pattern', { pattern }];

const problemOfFormat = (format: string): FieldProblem =>
  isKeyOf(problemsOfFormats, format) ? [problemsOfFormats[format]] : ['format', { format }];

const isKeyOf = <Table extends object>(table: Table, key: PropertyKey): key is keyof Table =>
  Object.hasOwn(table, key);

const list = (values: unknown) => (Array.isArray(values) ? values.join(', ') : String(values));

function withArticle(type: unknown): string {
  const name = [type].flat().join(' or ');
  return /^[aeio]/.test(name) ? `an ${name}` : `a ${name}`;
}
