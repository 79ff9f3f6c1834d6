import { writeFile } from 'node:fs/promises';
import type { Contract, Operation, Parameter, Reference, Schema } from '../contract.js';
import { largestPageOf, PAGE_SIZE } from '../parts/page-size.js';
import { repeatOf, type Repeat } from '../repeatable.js';
import { nameOf, type MethodName } from '../names.js';
import { VARIANTS, type Variant } from './variants.js';
import { WITHOUT_CALL } from '../operations.js';

/** What the generator knows about one operation. */
type Described = {
  id: string;
  /** The name of its types in the core: `ListPrealerts`. */
  typeName: string;
  doc: string;
  credential: 'key' | 'token' | 'none';
  /** Where the input goes. Both for an operation with parameters and a body. */
  inputs: ('query' | 'path' | 'body')[];
  parameters: Parameter[];
  isInputRequired: boolean;
  bodyType: string | undefined;
  hasFile: boolean;
  respondsWithFile: boolean;
  repeat: Repeat;
  paging: 'page' | 'before' | 'after' | undefined;
  /** The most records that a page can have. */
  largestPage: number | undefined;
};

const METHODS = ['get', 'put', 'post', 'delete'] as const;

const HEADER = `// Generated from the contract by sdk-tools/typescript/methods.ts.
import type { Call, CallOptions } from '../call.js';
import type { Download } from '../download.js';
import type { Listing } from '../listing.js';
import type { Upload } from '../upload.js';
import * as core from './core/sdk.gen.js';
import type * as t from './core/types.gen.js';
`;

/** Writes one factory per group of methods, and one per kind of client that collects its groups. */
export async function generateMethods(contract: Contract, file: string): Promise<void> {
  const groups = new Map<string, string[]>();
  const clients = { key: new Set<string>(), token: new Set<string>() };
  for (const [method, operation] of operationsOf(contract)) {
    if (WITHOUT_CALL.has(operation.operationId)) continue;
    const described = describe(contract, method, operation);
    const { group, method: name } = nameOf(operation);
    const factory = described.credential === 'key' ? `${group}OfKey` : group;
    clients[described.credential === 'key' ? 'key' : 'token'].add(group);
    const lines = groups.get(factory) ?? [];
    groups.set(factory, [...lines, ...methodsOf(described, { group, method: name })]);
  }
  const factories = [...groups].map(
    ([name, lines]) => `export const ${name} = (call: Call) => ({\n${lines.join('\n')}\n});\n`,
  );
  const { version } = contract.info;
  const constants = `export const VERSION = '${version}';\nexport const PAGE_SIZE = ${PAGE_SIZE};\n`;
  const parts = [HEADER, constants, ...factories];
  parts.push(clientOf('KeyMethods', clients.key, 'OfKey'), clientOf('TokenMethods', clients.token, ''));
  await writeFile(file, parts.join('\n'));
}

function operationsOf({ paths }: Contract): [string, Operation][] {
  return Object.values(paths).flatMap((item) =>
    METHODS.flatMap((method): [string, Operation][] => (item[method] ? [[method, item[method]]] : [])),
  );
}

/** A class, because users create a client with `new`, and its type has a name. */
function clientOf(name: string, groups: Set<string>, suffix: string): string {
  const fields = [...groups].map((group) => `  readonly ${group}: ReturnType<typeof ${group}${suffix}>;`);
  const values = [...groups].map((group) => `    this.${group} = ${group}${suffix}(call);`);
  const body = [...fields, '', '  constructor(call: Call) {', ...values, '  }'].join('\n');
  return `export class ${name} {\n${body}\n}\n`;
}

function describe(contract: Contract, method: string, operation: Operation): Described {
  const { operationId: id, requestBody, responses, security } = operation;
  const all = (operation.parameters ?? []).map((each) => resolveParameter(contract, each));
  const parameters = all.filter((each) => each.in === 'query' || each.in === 'path');
  const [[mediaType, { schema }] = [undefined, { schema: undefined }]] = Object.entries(
    requestBody?.content ?? {},
  );
  const success = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const mediaTypes = success.flatMap(([, { content }]) => Object.keys(content ?? {}));
  const schemes = security.flatMap((each) => Object.keys(each));
  const names = new Set([...parameters.map((each) => each.name), ...propertiesOf(contract, schema)]);
  return {
    id,
    typeName: id.charAt(0).toUpperCase() + id.slice(1),
    doc: docOf(operation),
    credential: schemes.length === 0 ? 'none' : schemes.includes('apiKeyHeader') ? 'key' : 'token',
    inputs: [
      ...(parameters.some((each) => each.in === 'path') ? (['path'] as const) : []),
      ...(parameters.some((each) => each.in === 'query') ? (['query'] as const) : []),
      ...(requestBody ? (['body'] as const) : []),
    ],
    parameters,
    isInputRequired: requestBody?.required === true || parameters.some((each) => each.required),
    bodyType: mediaType,
    hasFile: mediaType === 'multipart/form-data',
    respondsWithFile: mediaTypes.length > 0 && !mediaTypes.includes('application/json'),
    repeat: repeatOf({ id, method: method.toUpperCase(), parameters: all }),
    paging: id.startsWith('list') ? pagingOf(names) : undefined,
    largestPage: largestPageOf(contract, { parameters, bodies: bodiesOf(operation) }),
  };
}

const bodiesOf = ({ requestBody }: Operation) =>
  Object.fromEntries(
    Object.entries(requestBody?.content ?? {}).map(([type, { schema: each }]) => [type, each]),
  );

function pagingOf(names: Set<string>): Described['paging'] {
  return (['page', 'before', 'after'] as const).find((name) => names.has(name) && names.has('limit'));
}

function resolveParameter({ components }: Contract, parameter: Parameter | Reference): Parameter {
  if (!('$ref' in parameter)) return parameter;
  const found = components.parameters[parameter.$ref.split('/').pop() ?? ''];
  if (!found) throw new Error(`${parameter.$ref} does not exist.`);
  return found;
}

function propertiesOf({ components }: Contract, schema: Schema | undefined): string[] {
  const named = schema?.$ref ? components.schemas[schema.$ref.split('/').pop() ?? ''] : schema;
  return Object.keys(named?.properties ?? {});
}

/** The summary and the description as a comment, without samples in other languages. */
function docOf({ summary, description = '' }: Operation): string {
  const text = `${summary}.\n\n${description}`.replaceAll(/```[\s\S]*?```\n*/g, '').replaceAll('*/', '*\\/');
  const lines = text.trim().split('\n');
  return ['  /**', ...lines.map((line) => `   * ${line}`.trimEnd()), '   */'].join('\n');
}

function methodsOf(described: Described, { method }: MethodName): string[] {
  const variants: Variant[] = VARIANTS[described.id] ?? [{ method }];
  return variants.map((variant) => methodOf(described, variant));
}

function methodOf(described: Described, variant: Variant): string {
  const { id, typeName, inputs } = described;
  const result = variant.result ? `t.${variant.result}` : `t.${typeName}Response`;
  const isFile = described.respondsWithFile;
  const paging = variant.fixed ? undefined : described.paging;
  const policy = JSON.stringify({
    id,
    repeat: described.repeat,
    ...(described.credential === 'none' ? { isPublic: true } : {}),
    ...(described.hasFile ? { isForm: true } : {}),
  }).replaceAll('"', "'");
  const [verb, returned] = isFile
    ? ['file', 'Promise<Download>']
    : paging
      ? [`list<${result}>`, `Listing<${result}>`]
      : [`json<${result}>`, `Promise<${result}>`];
  const { parameter, argument } = inputOf(described, variant);
  const largest = described.largestPage === undefined ? '' : `, ${described.largestPage}`;
  const place = paging ? `, '${paging}', '${inputs.includes('body') ? 'body' : 'query'}'${largest}` : '';
  const doc = variant.doc ? `  /** ${variant.doc} */` : described.doc;
  return `${doc}
  ${variant.method}: (${parameter}options?: CallOptions): ${returned} =>
    call.${verb}(core.${id}, ${argument}, options, ${policy}${place}),
`;
}

/** Returns the declaration of the method's input, and how it is divided into query, path and body. */
function inputOf(
  described: Described,
  { fixed, omit = [] }: Variant,
): { parameter: string; argument: string } {
  const { inputs, typeName, isInputRequired, parameters } = described;
  if (inputs.length === 0) return { parameter: '', argument: '{}' };
  const whole = inputs.map((input) => typeOfInput(described, typeName, input)).join(' & ');
  const type = omit.length > 0 ? `Omit<${whole}, ${omit.map((name) => `'${name}'`).join(' | ')}>` : whole;
  const parameter = isInputRequired ? `input: ${type}, ` : `input: ${type} = {}, `;
  const [only] = inputs;
  if (inputs.length === 1)
    return { parameter, argument: fixed ? `{ ${only}: { ...input, ...${fixed} } }` : `{ ${only}: input }` };
  const namesIn = (place: string) => parameters.filter((each) => each.in === place).map((each) => each.name);
  const taken = [...namesIn('path'), ...namesIn('query')];
  const places = inputs.map((place) => {
    if (place === 'body') return 'body';
    return `${place}: { ${namesIn(place).join(', ')} }`;
  });
  return {
    parameter: parameter.replace('input:', `{ ${taken.join(', ')}, ...body }:`),
    argument: `{ ${places.join(', ')} }`,
  };
}

function typeOfInput({ hasFile }: Described, typeName: string, input: string): string {
  const type = `NonNullable<t.${typeName}Data['${input}']>`;
  return hasFile && input === 'body' ? `Upload<${type}>` : type;
}
