import type { Contract, Schema } from '../contract.js';
import { eventTypes } from '../parts/events.js';
import { repeatOf } from '../repeatable.js';
import { kindOf } from '../parts/times.js';
import { retryConstants } from './retries.js';
import { largestPageOf } from '../parts/page-size.js';
import { operationsOf, propertiesOf, resolveSchema, type OperationEntry } from '../operations.js';

/** The records that the hand-written classes return, by the schema of the contract. */
const RECORDS = {
  Prealert: ['Prealert', 'A pre-alert: a parcel that a courier has announced.'],
  PrealertImport: ['PrealertImport', 'The result of an uploaded file of pre-alerts.'],
  PackageRecord: ['Package', 'A package in the warehouse.'],
  PackageReceipt: ['PackageReceipt', 'The result of a scan at intake.'],
  Customer: ['Customer', 'A customer of a courier.'],
  CustomerMatch: ['CustomerMatch', 'A customer that a search has found.'],
  CustomerImport: ['CustomerImport', 'The result of an uploaded customer file.'],
} satisfies Record<string, [name: string, description: string]>;

const TYPES: Record<string, string> = {
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  array: 'array',
  object: 'array',
};

const LINE_LENGTH = 120;

/** Returns the generated files of `sdk/php`, by their path in its folder `generated`. */
export function phpSources(contract: Contract, codes: Record<string, string>): Record<string, string> {
  const operations = operationsOf(contract);
  const records = Object.entries(RECORDS).map(([schema, [name, description]]) => [
    `Record/${name}.php`,
    record(contract, { $ref: `#/components/schemas/${schema}` }, name, description),
  ]);
  return {
    'Version.php': version(contract),
    'Retries.php': retries(),
    'Operations.php': operationTable(contract, operations),
    ...eventSources(contract),
    'ErrorCode.php': errorCodes(codes),
    'OPERATIONS.md': operationList(contract, operations),
    // Each entry is a path and a text.
    ...(Object.fromEntries(records) as Record<string, string>),
  };
}

function version({ info }: Contract): string {
  return file('Crossdock', [
    ...docblock('The version of this library. It is the version of the contract.'),
    'final class Version',
    '{',
    `    public const NUMBER = '${info.version}';`,
    '}',
  ]);
}

function retries(): string {
  const doc = docblock('When a request is sent again. All SDKs have the same values.', '@internal');
  return file('Crossdock', [...doc, 'final class Retries', '{', ...retryConstants(), '}']);
}

function operationTable(contract: Contract, operations: OperationEntry[]): string {
  return file('Crossdock', [
    ...docblock('All operations of the contract.', '@internal'),
    'final class Operations',
    '{',
    '    public const TABLE = [',
    ...operations.flatMap((operation) => operationEntry(contract, operation)),
    '    ];',
    '}',
  ]);
}

function operationEntry(contract: Contract, operation: OperationEntry): string[] {
  const { id, method, path, bodies, parameters } = operation;
  const list = (values: string[]) => `[${values.map(quoted).join(', ')}]`;
  const named = parameters.filter((parameter) => parameter.in !== 'header').map(({ name }) => name);
  const largestPage = largestPageOf(contract, operation);
  return [
    `        ${quoted(id)} => [`,
    `            'method' => ${quoted(method)},`,
    `            'path' => ${quoted(path)},`,
    `            'parameters' => ${list(named)},`,
    `            'fields' => ${list(fieldsOf(contract, operation))},`,
    `            'dates' => ${list(datesOf(contract, operation))},`,
    `            'mediaTypes' => ${list(mediaTypesOf(bodies))},`,
    `            'isRepeatable' => ${repeatOf(operation) !== 'never'},`,
    `            'takesIdempotencyKey' => ${parameters.some(({ name }) => name === 'Idempotency-Key')},`,
    ...(largestPage ? [`            'largestPage' => ${largestPage},`] : []),
    '        ],',
  ];
}

/** JSON comes first: the client prefers it. */
function mediaTypesOf(bodies: OperationEntry['bodies']): string[] {
  return Object.keys(bodies).sort(
    (a, b) => Number(b === 'application/json') - Number(a === 'application/json'),
  );
}

function fieldsOf(contract: Contract, { bodies }: OperationEntry): string[] {
  return [
    ...new Set(
      mediaTypesOf(bodies).flatMap((type) => Object.keys(propertiesOf(contract, bodies[type] ?? {}))),
    ),
  ];
}

/** The parameters and fields that are calendar dates. */
function datesOf(contract: Contract, { parameters, bodies }: OperationEntry): string[] {
  const given = parameters.map(({ name, schema }) => [name, schema ?? {}] as const);
  const fields = Object.values(bodies).flatMap((body) => Object.entries(propertiesOf(contract, body)));
  const dates = [...given, ...fields].filter(([, schema]) => kindOf(contract, schema) === 'date');
  return [...new Set(dates.map(([name]) => name))];
}

/** A class per type of event, with its record. */
function eventSources(contract: Contract): Record<string, string> {
  const events = eventTypes(contract);
  const rows = events.map(({ type, className }) => `        ${quoted(type)} => Event\\${className}::class,`);
  const table = file('Crossdock', [
    ...docblock('The class of each type of event.', '@internal'),
    'final class EventTypes',
    '{',
    '    public const CLASSES = [',
    ...rows,
    '    ];',
    '}',
  ]);
  const classes = events.map(({ className, description, dataName }) => [
    `Event/${className}.php`,
    file(
      'Crossdock\\Event',
      [
        ...docblock(description),
        `final class ${className} extends Event`,
        '{',
        ...docblock('What the event is about.').map((line) => `    ${line}`),
        `    public function record(): ${dataName}`,
        '    {',
        `        return ${dataName}::fromJson($this->data);`,
        '    }',
        '}',
      ],
      ['Crossdock\\Event', `Crossdock\\Record\\${dataName}`],
    ),
  ]);
  const records = events.map(({ dataName, data }) => [
    `Record/${dataName}.php`,
    record(contract, data, dataName, data.description ?? 'What an event is about.'),
  ]);
  return {
    'EventTypes.php': table,
    ...(Object.fromEntries([...classes, ...records]) as Record<string, string>),
  };
}

function errorCodes(codes: Record<string, string>): string {
  const constants = Object.entries(codes).flatMap(([code, description]) => [
    '',
    ...docblock(description).map((line) => `    ${line}`),
    `    public const ${code.toUpperCase()} = ${quoted(code)};`,
  ]);
  return file('Crossdock', [
    ...docblock(
      'The codes of failures, for ApiException::is(). The service can send newer ones: treat those by their HTTP status.',
    ),
    'final class ErrorCode',
    '{',
    ...constants.slice(1),
    '}',
  ]);
}

function operationList(contract: Contract, operations: OperationEntry[]): string {
  const rows = operations.map((operation) => {
    const { id, method, path, summary } = operation;
    const name = largestPageOf(contract, operation) ? `\`${id}\` (list)` : `\`${id}\``;
    return `| ${operation.tag} | ${name} | ${method} | \`${path}\` | ${summary} |`;
  });
  return [
    '# Operations',
    '',
    `All operations of the contract, version ${contract.info.version}. Call them with \`request()\`, lists also with \`each()\`,`,
    'and files with `download()`. The API reference describes their parameters and fields.',
    '',
    '| Group | Operation | Method | Path | What it does |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function record(contract: Contract, schema: Schema, name: string, description: string): string {
  const definition = resolveSchema(contract, schema);
  const fields = Object.entries(propertiesOf(contract, definition)).map(([field, property]) => ({
    field,
    isOptional: !definition.required?.includes(field),
    property: resolveSchema(contract, property),
    kind: kindOf(contract, property),
  }));
  const times = fields.filter(({ kind }) => kind !== undefined);
  // PHP requires parameters with a default after the others.
  const sorted = fields.sort((a, b) => Number(a.isOptional) - Number(b.isOptional));
  return file(
    'Crossdock\\Record',
    [
      ...docblock(description, 'Times are in UTC, `YYYY-MM-DD HH:MM:SS`.'),
      `final class ${name}`,
      '{',
      '    use FromJson;',
      '',
      '    public function __construct(',
      ...sorted.flatMap(({ field, isOptional, property }) => recordField(field, isOptional, property)),
      '    ) {',
      '    }',
      ...times.flatMap(timeMethod),
      '}',
    ],
    ['Crossdock\\FromJson', ...(times.length > 0 ? ['Crossdock\\Time', 'DateTimeImmutable'] : [])],
  );
}

function recordField(field: string, isOptional: boolean, { type, description = '' }: Schema): string[] {
  const types = [type ?? 'object'].flat();
  const name = TYPES[types.find((each) => each !== 'null') ?? 'object'] ?? 'mixed';
  const canBeNull = isOptional || types.includes('null');
  // Some descriptions continue with details that only the reference needs.
  const [summary = ''] = description.split('\n\n');
  const shape = name === 'array' ? '@var array<mixed>' : '';
  const lines = [...(summary || shape ? docblock(`${shape} ${summary}`.trim()) : [])];
  lines.push(`public readonly ${canBeNull ? '?' : ''}${name} $${field}${isOptional ? ' = null' : ''},`);
  return lines.map((line) => `        ${line}`);
}

/** A time of a record as an object: `createdAt()` beside the text `created_at`. */
function timeMethod({
  field,
  isOptional,
  property,
}: {
  field: string;
  isOptional: boolean;
  property: Schema;
}): string[] {
  const canBeNull = isOptional || [property.type].flat().includes('null');
  const name = field.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const value = `Time::parse($this->${field})`;
  return [
    '',
    `    /** \`${field}\` as an object. */`,
    `    public function ${name}(): ${canBeNull ? '?' : ''}DateTimeImmutable`,
    '    {',
    `        return ${canBeNull ? `$this->${field} === null ? null : ${value}` : value};`,
    '    }',
  ];
}

function docblock(...paragraphs: string[]): string[] {
  const lines = paragraphs.flatMap((text, index) => [...(index > 0 ? [''] : []), ...wrapped(text)]);
  if (lines.length === 1) return [`/** ${lines.join('')} */`];
  return ['/**', ...lines.map((line) => ` * ${line}`.trimEnd()), ' */'];
}

function wrapped(text: string): string[] {
  const lines: string[] = [''];
  for (const word of text.split(/\s+/)) {
    const line = `${lines.at(-1) ?? ''} ${word}`.trim();
    if (line.length > LINE_LENGTH - 12) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

function file(namespace: string, lines: string[], uses: string[] = []): string {
  const imports = uses.length > 0 ? [...uses.map((name) => `use ${name};`), ''] : [];
  const head = ['<?php', '', '// Generated from the contract by `npm run sdk -- php`. Do not edit.', ''];
  return [
    ...head,
    'declare(strict_types=1);',
    '',
    `namespace ${namespace};`,
    '',
    ...imports,
    ...lines,
    '',
  ].join('\n');
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`\'`)}'`;
