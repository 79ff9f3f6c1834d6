import {
  upper,
  type Field,
  type Layer,
  type LayerOperation,
  type Shape,
  type ValueType,
} from '../layer/model.js';
import { docOf } from './javadoc.js';

/** Returns the generated classes of the layer of sdk/java, by their path below `example/crossdock`. */
export function javaLayer(layer: Layer): Record<string, string> {
  const groups = [...new Set(layer.operations.map(({ group }) => group))];
  return Object.fromEntries([
    ...layer.records.map((shape) => [`records/${shape.name}.java`, recordClass(shape)]),
    ...layer.inputs.map((shape) => [`records/${shape.name}.java`, inputClass(shape)]),
    ...layer.events.map((event) => [`records/${event.schema}.java`, eventClass(event)]),
    ['records/EventTypes.java', eventTable(layer)],
    ...groups.map((group) => [
      `${upper(group)}Service.java`,
      serviceClass(
        group,
        layer.operations.filter((operation) => operation.group === group),
      ),
    ]),
  ]) as Record<string, string>;
}

const NOTE = 'Generated from the contract. Do not edit.';

const RESERVED = new Set(['package', 'default', 'public', 'class', 'new']);

/** `package_id`, `courierID` and `UserCode` as `packageId`, `courierId` and `userCode`. */
function javaName(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_');
  const joined = words.map((word, index) => (index === 0 ? word : upper(word))).join('');
  return RESERVED.has(joined) ? `${joined}_` : joined;
}

const SCALARS = {
  text: 'String',
  integer: 'Integer',
  number: 'Double',
  boolean: 'Boolean',
  time: 'Instant',
  date: 'LocalDate',
  any: 'JsonNode',
} as const;

const PRIMITIVES: Record<string, string> = { Integer: 'int', Double: 'double', Boolean: 'boolean' };

function javaType(type: ValueType): string {
  if (type.kind === 'record') return type.name;
  return type.kind === 'list' ? `List<${javaType(type.of)}>` : SCALARS[type.kind];
}

const WIRE: Record<string, string> = { time: 'Time', date: 'Date' };

const ANNOTATED = [
  '@JsonAutoDetect(',
  '    fieldVisibility = JsonAutoDetect.Visibility.ANY,',
  '    getterVisibility = JsonAutoDetect.Visibility.NONE,',
  '    isGetterVisibility = JsonAutoDetect.Visibility.NONE)',
];

function recordClass({ name, description, fields }: Shape): string {
  const members = fields.flatMap(({ name: wire, type }) => [
    `  @JsonProperty("${wire}")`,
    ...(WIRE[type.kind] ? [`  @JsonDeserialize(using = Wire.${WIRE[type.kind]}Reader.class)`] : []),
    `  private ${javaType(type)} ${javaName(wire)};`,
    '',
  ]);
  const getters = fields.flatMap((field) => [
    ...docOf(field.description, noteOf(field), '  '),
    ...getterOf(field),
    '',
  ]);
  return recordFile(name, [
    ...docOf(description || 'A part of a response.', NOTE),
    ...ANNOTATED,
    '@JsonIgnoreProperties(ignoreUnknown = true)',
    `public final class ${name} {`,
    ...members,
    ...getters,
    '}',
  ]);
}

/** A list that is missing is empty, so that programs can loop over it. */
function noteOf({ type, isOptional }: Field): string {
  if (!isOptional) return '';
  return type.kind === 'list' ? 'Empty if there is none.' : 'Null if there is none.';
}

function getterOf({ name: wire, type, isOptional }: Field): string[] {
  const name = javaName(wire);
  const boxed = javaType(type);
  const returned = isOptional ? boxed : (PRIMITIVES[boxed] ?? boxed);
  const value = isOptional && type.kind === 'list' ? `${name} == null ? List.of() : ${name}` : name;
  return [`  public ${returned} ${name}() {`, `    return ${value};`, '  }'];
}

function inputClass({ name, description, fields }: Shape): string {
  return recordFile(name, [
    ...docOf(description || 'A part of a request.', NOTE),
    ...ANNOTATED,
    '@JsonInclude(JsonInclude.Include.NON_NULL)',
    `public final class ${name} {`,
    ...fields.flatMap(({ name: wire, type }) => [
      `  @JsonProperty("${wire}")`,
      ...(WIRE[type.kind] ? [`  @JsonSerialize(using = Wire.${WIRE[type.kind]}Writer.class)`] : []),
      `  private ${javaType(type)} ${javaName(wire)};`,
      '',
    ]),
    ...fields.flatMap(({ name: wire, type, description: text }) => [
      ...docOf(text, '', '  '),
      `  public ${name} ${javaName(wire)}(${javaType(type)} ${javaName(wire)}) {`,
      `    this.${javaName(wire)} = ${javaName(wire)};`,
      '    return this;',
      '  }',
      '',
    ]),
    '}',
  ]);
}

function eventClass({ schema, record, description }: Layer['events'][number]): string {
  return recordFile(schema, [
    ...docOf(description, NOTE),
    `public final class ${schema} extends Event {`,
    `  private final ${record} data;`,
    '',
    `  ${schema}(JsonNode json) {`,
    '    super(json);',
    `    data = Wire.read(json.get("data"), ${record}.class);`,
    '  }',
    '',
    '  /** What the event is about. */',
    `  public ${record} data() {`,
    '    return data;',
    '  }',
    '}',
  ]);
}

function eventTable({ events }: Layer): string {
  return recordFile('EventTypes', [
    ...docOf('The class of each type of event.', NOTE),
    'final class EventTypes {',
    '  private EventTypes() {}',
    '',
    '  static Event read(JsonNode json) {',
    '    switch (json.path("type").asText()) {',
    ...events.flatMap(({ type, schema }) => [`      case "${type}":`, `        return new ${schema}(json);`]),
    '      default:',
    '        return new Event(json);',
    '    }',
    '  }',
    '}',
  ]);
}

const IMPORTS: Record<string, string> = {
  JsonAutoDetect: 'com.fasterxml.jackson.annotation.JsonAutoDetect',
  JsonIgnoreProperties: 'com.fasterxml.jackson.annotation.JsonIgnoreProperties',
  JsonInclude: 'com.fasterxml.jackson.annotation.JsonInclude',
  JsonProperty: 'com.fasterxml.jackson.annotation.JsonProperty',
  JsonNode: 'com.fasterxml.jackson.databind.JsonNode',
  JsonDeserialize: 'com.fasterxml.jackson.databind.annotation.JsonDeserialize',
  JsonSerialize: 'com.fasterxml.jackson.databind.annotation.JsonSerialize',
  Instant: 'java.time.Instant',
  LocalDate: 'java.time.LocalDate',
  List: 'java.util.List',
};

const COMMENT = /^ *(\/\*\*| \*)/;

function recordFile(name: string, lines: string[]): string {
  const code = lines.filter((line) => !COMMENT.test(line)).join('\n');
  const used = Object.entries(IMPORTS).filter(
    ([each]) => each !== name && new RegExp(`\\b${each}\\b`).test(code),
  );
  const imports = used.map(([, path]) => `import ${path};`);
  return ['package example.crossdock.records;', '', ...imports, '', ...lines, ''].join('\n');
}

function serviceClass(group: string, operations: LayerOperation[]): string {
  const name = `${upper(group)}Service`;
  const types = 'Their types are in {@code example.crossdock.records}.';
  const more = 'The methods of the superclass are those of the generated code. Their types are others.';
  const lines = [
    ...docOf(`The calls of ${group}. ${types} ${more}`, NOTE),
    `public final class ${name} extends ${upper(group)}Api {`,
    '  private final Calls calls;',
    '',
    `  ${name}(Calls calls) {`,
    '    super(calls.client());',
    '    this.calls = calls;',
    '  }',
    '',
    ...operations.flatMap(methodsOf),
    ...(group === 'prealerts' ? MANY.split('\n') : []),
    '}',
  ];
  const code = lines.filter((line) => !COMMENT.test(line)).join('\n');
  const imports = [
    `import example.crossdock.api.${upper(group)}Api;`,
    ...recordsIn(operations).map((each) => `import example.crossdock.records.${each};`),
    ...(code.includes('List<') ? ['import java.util.List;'] : []),
    ...(code.includes('Stream<') ? ['import java.util.stream.Stream;'] : []),
  ];
  return ['package example.crossdock;', '', ...imports, '', ...lines, ''].join('\n');
}

function recordsIn(operations: LayerOperation[]): string[] {
  const names = operations.flatMap(({ input, data, meta }) => {
    const element = data && elementOf(data);
    return [
      ...(input ? [input.name] : []),
      ...(meta ? [meta] : []),
      ...(element?.kind === 'record' ? [element.name] : []),
    ];
  });
  return [...new Set(names)].sort();
}

const elementOf = (type: ValueType): ValueType => (type.kind === 'list' ? elementOf(type.of) : type);

function methodsOf(operation: LayerOperation): string[] {
  return operation.paging && operation.data ? listMethods(operation, operation.data) : callMethods(operation);
}

function listMethods(operation: LayerOperation, data: ValueType): string[] {
  const { id, name, verb, path, summary, input, meta, paging, largestPage } = operation;
  const method = javaName(name);
  const parameter = input ? `${input.name} input` : '';
  const [passed, given] = input ? ['input', 'input'] : ['', 'null'];
  const doc = `${summary} ({@code ${id}}).`;
  const pages = method === 'list' ? 'pages' : `${method}Pages`;
  const [record, about] = [javaType(data), meta ?? 'Void'];
  const classes = `${record}.class, ${about}.class`;
  return [
    ...docOf(doc, 'The stream has the records of all pages, and requests a page when it needs one.', '  '),
    `  public Stream<${record}> ${method}(${parameter}) {`,
    `    return ${pages}(${passed}).flatMap(page -> page.data().stream());`,
    '  }',
    '',
    ...docOf(doc, 'The stream has whole pages, with their totals.', '  '),
    `  public Stream<Page<${record}, ${about}>> ${pages}(${parameter}) {`,
    `    return calls.pages("${verb}", "${path}", "${String(paging)}", ${largestPage}, ${given}, ${classes});`,
    '  }',
    '',
  ];
}

function callMethods({ id, name, verb, path, summary, input, data }: LayerOperation): string[] {
  const parameter = input ? `${input.name} input` : '';
  const given = input ? 'input' : 'null';
  const doc = `${summary} ({@code ${id}}).`;
  const result = data && data.kind !== 'any' ? javaType(data) : undefined;
  const methodWith = (parameters: string, key: string) => [
    `  public ${result ?? 'void'} ${javaName(name)}(${parameters}) {`,
    result && data
      ? `    return ${callOf(data, `"${verb}", "${path}", ${given}, ${key}`)};`
      : `    calls.send("${verb}", "${path}", ${given}, ${key});`,
    '  }',
    '',
  ];
  const withKey = [parameter, 'String idempotencyKey'].filter((each) => each !== '').join(', ');
  const own = 'With your own key, if your program may repeat the call after a crash.';
  return [
    ...docOf(doc, '', '  '),
    ...methodWith(parameter, 'null'),
    ...(verb === 'POST' ? [...docOf(doc, own, '  '), ...methodWith(withKey, 'idempotencyKey')] : []),
  ];
}

function callOf(data: ValueType, parameters: string): string {
  if (data.kind === 'list') return `calls.list(${parameters}, ${javaType(data.of)}.class)`;
  return `calls.data(${parameters}, ${javaType(data)}.class)`;
}

/** What the pre-alerts have besides, by hand: many of them in one request. */
const MANY = `  /**
   * Submits any number of pre-alerts, 250 per request ({@link Crossdock.Builder#batchLines}). Check the status of each line of the
   * result. If a request fails, {@link CrossdockException#batch()} has the results before it.
   *
   * @throws IncompleteBatchException if the service received fewer, because something on the way has cut the request
   */
  public PrealertBatches.Result submitMany(List<PrealertSubmission> prealerts) {
    return calls.uninterrupted(() -> calls.batches().submit(prealerts));
  }

  /** The same for up to 1,000 in one request, but either all are stored or none: a line that fails makes the call fail. */
  public PrealertBatches.Result submitAllOrNone(List<PrealertSubmission> prealerts) {
    return calls.uninterrupted(() -> calls.batches().submitAtomically(prealerts));
  }
`;
