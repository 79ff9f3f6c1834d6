import {
  upper,
  type Field,
  type Layer,
  type LayerOperation,
  type Shape,
  type ValueType,
} from '../layer/model.js';

/** Returns the generated files of the layer of sdk/go by their names: types, services and events, without types of oapi-codegen. */
export function goLayer(layer: Layer): Record<string, string> {
  return {
    'types.gen.go': file(
      ['encoding/json', 'time'],
      [...layer.records.flatMap(recordType), ...layer.inputs.flatMap(inputType)],
    ),
    'services.gen.go': file(['context', 'iter'], servicesOf(layer)),
    'events.gen.go': file([], eventsOf(layer)),
  };
}

function file(imports: string[], lines: string[]): string {
  const head = '// Code generated from the contract. DO NOT EDIT.\n\npackage crossdock\n';
  const text = lines.join('\n');
  // Go refuses an import that nothing uses.
  const used = imports.filter((path) => text.includes(`${path.split('/').at(-1) ?? ''}.`));
  const block = used.length === 0 ? '' : `\nimport (\n${used.map((path) => `\t"${path}"`).join('\n')}\n)\n`;
  return `${head}${block}\n${text}\n`;
}

const INITIALISMS = new Set(['api', 'csv', 'id', 'ip', 'pdf', 'url', 'utc']);

/** `package_id`, `courierID` and `UserCode` as `PackageID`, `CourierID` and `UserCode`. */
function goName(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').split('_');
  return words
    .map((word) => (INITIALISMS.has(word.toLowerCase()) ? word.toUpperCase() : upper(word)))
    .join('');
}

const SCALARS = { text: 'string', integer: 'int', number: 'float64', boolean: 'bool', any: 'any' } as const;

function goType(type: ValueType): string {
  if (type.kind === 'record') return type.name;
  // A list of times is a list of texts: the contract has none.
  if (type.kind === 'list') return `[]${isTime(type.of) ? 'string' : goType(type.of)}`;
  return type.kind === 'time' || type.kind === 'date' ? 'time.Time' : SCALARS[type.kind];
}

const isTime = ({ kind }: ValueType) => kind === 'time' || kind === 'date';

/** A text that is missing is empty. Of other values, only a pointer can say that there is none. */
function recordFieldType({ type, isOptional }: Field): string {
  const needsPointer = isOptional && !['text', 'list', 'any'].includes(type.kind);
  return `${needsPointer ? '*' : ''}${goType(type)}`;
}

function recordType({ name, description, fields }: Shape): string[] {
  const lines = fields.flatMap((field) => [
    ...comment(field.description, '\t'),
    `\t${goName(field.name)} ${recordFieldType(field)} \`json:"${field.name}"\``,
  ]);
  const times = fields.filter(({ type }) => isTime(type));
  return [
    ...comment(`${name}: ${description || 'a part of a response.'}`),
    ...(lines.length > 0 ? [`type ${name} struct {`, ...lines, '}', ''] : [`type ${name} struct{}`, '']),
    ...(times.length > 0 ? unmarshal(name, times) : []),
  ];
}

/** Reads the times, which the service writes without a zone. */
function unmarshal(name: string, times: Field[]): string[] {
  const kind = ({ isOptional }: Field) => (isOptional ? '*wireTime' : 'wireTime');
  return [
    '// UnmarshalJSON reads the times, which are in UTC.',
    `func (r *${name}) UnmarshalJSON(text []byte) error {`,
    `\ttype plain ${name}`,
    '\tshadow := struct {',
    '\t\t*plain',
    ...times.map((field) => `\t\t${goName(field.name)} ${kind(field)} \`json:"${field.name}"\``),
    '\t}{plain: (*plain)(r)}',
    '\tif err := json.Unmarshal(text, &shadow); err != nil {',
    '\t\treturn err',
    '\t}',
    ...times.map(({ name: field, isOptional }) => {
      const from = isOptional ? 'pointer()' : 'Time';
      return `\tr.${goName(field)} = shadow.${goName(field)}.${from}`;
    }),
    '\treturn nil',
    '}',
    '',
  ];
}

/** What is not set is not sent: an empty text, a zero time, a nil pointer. */
function inputFieldType({ type, isOptional }: Field): string {
  const needsPointer = isOptional && ['integer', 'number', 'boolean', 'record'].includes(type.kind);
  return `${needsPointer ? '*' : ''}${goType(type)}`;
}

function inputType({ name, description, fields }: Shape): string[] {
  const lines = fields.flatMap((field) => [
    ...comment(field.description, '\t'),
    `\t${goName(field.name)} ${inputFieldType(field)}`,
  ]);
  return [
    ...comment(`${name}: ${description || 'a part of a request.'}`),
    `type ${name} struct {`,
    ...lines,
    '}',
    '',
    `func (s ${name}) fields() fields {`,
    '\tf := fields{}',
    ...fields.map((field) => `\t${setterOf(field)}`),
    '\treturn f',
    '}',
    '',
    '// MarshalJSON writes the fields as the API names them.',
    `func (s ${name}) MarshalJSON() ([]byte, error) { return json.Marshal(s.fields()) }`,
    '',
  ];
}

function setterOf({ name, type, isOptional }: Field): string {
  const value = `s.${goName(name)}`;
  if (isTime(type))
    return `f.setTime("${name}", ${value}, ${type.kind === 'date' ? 'dateLayout' : 'timeLayout'})`;
  if (!isOptional) return `f["${name}"] = ${value}`;
  if (type.kind === 'text') return `f.setText("${name}", ${value})`;
  if (type.kind === 'list') return `setList(f, "${name}", ${value})`;
  if (type.kind === 'any') return `f.setAny("${name}", ${value})`;
  return `setPointer(f, "${name}", ${value})`;
}

function servicesOf({ operations }: Layer): string[] {
  const groups = [...new Set(operations.map(({ group }) => group))];
  const lines = groups.flatMap((group) => {
    const service = serviceOf(group);
    const own = operations.filter((operation) => operation.group === group);
    return [
      `// ${service} has the calls of ${group}. It is a field of [Client].`,
      `type ${service} struct{ client *Client }`,
      '',
      ...own.flatMap((operation) => methodOf(service, operation)),
    ];
  });
  return [
    ...lines,
    '// services are the fields of a client, one per group of operations.',
    'type services struct {',
    ...groups.map((group) => `\t${upper(group)} *${serviceOf(group)}`),
    '}',
    '',
    'func servicesOf(client *Client) services {',
    `\treturn services{${groups.map((group) => `${upper(group)}: &${serviceOf(group)}{client}`).join(', ')}}`,
    '}',
  ];
}

const serviceOf = (group: string) => `${upper(group)}Service`;

function methodOf(service: string, operation: LayerOperation): string[] {
  const { id, name, verb, path, summary, input, data, meta, paging, largestPage } = operation;
  const method = upper(name);
  const receiver = `func (s *${service})`;
  const parameter = input ? `, input ${input.name}` : '';
  const given = input ? 'input.fields()' : 'nil';
  const doc = `calls ${id}: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}.`;
  if (paging && data) {
    const types = `${goType(data)}, ${meta ?? 'NoMeta'}`;
    const pages = method === 'List' ? 'Pages' : `${method}Pages`;
    return [
      ...comment(
        `${method} ${doc} It iterates over the records of all pages, and requests a page when it needs one.`,
      ),
      `${receiver} ${method}(ctx context.Context${parameter}) iter.Seq2[${goType(data)}, error] {`,
      `\treturn recordsOf(s.${pages}(ctx${input ? ', input' : ''}))`,
      '}',
      '',
      ...comment(`${pages} ${doc} It iterates over whole pages, with their totals.`),
      `${receiver} ${pages}(ctx context.Context${parameter}) iter.Seq2[*Page[${types}], error] {`,
      `\treturn listPages[${types}](ctx, s.client, list{"${verb}", "${path}", "${paging}", ${largestPage}}, ${given})`,
      '}',
      '',
    ];
  }
  const result = data && data.kind !== 'any' ? goType(data) : undefined;
  const arguments_ = `ctx, s.client, "${verb}", "${path}", ${given}, options`;
  return [
    ...comment(`${method} ${doc}`),
    `${receiver} ${method}(ctx context.Context${parameter}, options ...CallOption) ${result ? `(${result}, error)` : 'error'} {`,
    ...(result
      ? [`\treturn call[${result}](${arguments_})`]
      : [`\t_, err := call[any](${arguments_})`, '\treturn err']),
    '}',
    '',
  ];
}

function eventsOf({ events }: Layer): string[] {
  return [
    ...events.flatMap(({ type, schema: className, record, description }) => [
      ...comment(`${className} is the data of the event ${type}. ${description}`),
      `type ${className} struct{ ${record} }`,
      '',
      `func (*${className}) eventData() {}`,
      '',
    ]),
    '// newEventData returns the data of a type of event, or nil for a type that this version does not know.',
    'func newEventData(name string) EventData {',
    '\tswitch name {',
    ...events.flatMap(({ type, schema: className }) => [`\tcase "${type}":`, `\t\treturn &${className}{}`]),
    '\t}',
    '\treturn nil',
    '}',
  ];
}

/** The first paragraph of a description. The reference has all of it. */
function comment(text: string, indent = ''): string[] {
  const [first = ''] = text.split('\n\n');
  return first === '' ? [] : first.split('\n').map((line) => `${indent}// ${line}`.trimEnd());
}
