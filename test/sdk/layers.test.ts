import { matching } from '../support/assertions/matching.js';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readContract, type Contract } from '../../sdk-tools/contract.js';
import { goLayer } from '../../sdk-tools/go/layer.js';
import { javaLayer } from '../../sdk-tools/java/layer.js';
import { layerOf } from '../../sdk-tools/layer/model.js';
import { phpSources } from '../../sdk-tools/php/sources.js';
import { pythonContract } from '../../sdk-tools/python/contract.js';
import { pythonTables } from '../../sdk-tools/python/tables.js';

// The hand-written layers of the SDKs follow from the contract: a new type of event, field or filter needs no work on them.

let contract: Contract;

beforeAll(async () => {
  contract = changed(await readContract());
});

/** Adds a type of event, fields of a record, and a filter. */
function changed(original: Contract): Contract {
  const copy = structuredClone(original);
  const { schemas } = copy.components;
  const union = schemas['CourierEvent'] as { discriminator: { mapping: Record<string, string> } };
  union.discriminator.mapping['package.sorted'] = '#/components/schemas/PackageSortedEvent';
  schemas['PackageSortedEvent'] = {
    type: 'object',
    description: 'A package was sorted.',
    properties: {
      type: { type: 'string', const: 'package.sorted' },
      data: { $ref: '#/components/schemas/SortedPackage' },
    },
  };
  schemas['SortedPackage'] = {
    type: 'object',
    required: ['bay'],
    properties: { bay: { type: 'string' }, sorted_at: { $ref: '#/components/schemas/NullableUtcDateTime' } },
  };
  const prealert = schemas['Prealert'];
  Object.assign(prealert?.properties ?? {}, { promised_on: { $ref: '#/components/schemas/CalendarDate' } });
  Object.assign(schemas['PackageSearch']?.properties ?? {}, { bay: { type: 'string' } });
  return copy;
}

describe('a new type of event', () => {
  test('has a type of its own in Go, with its times', () => {
    const files = goLayer(layerOf(contract));
    expect(files['events.gen.go']).toContain('type PackageSortedEvent struct{ SortedPackage }');
    expect(files['events.gen.go']).toContain('case "package.sorted":\n\t\treturn &PackageSortedEvent{}');
    expect(files['types.gen.go']).toContain('SortedAt *time.Time `json:"sorted_at"`');
  });

  test('has a class of its own in Java, with its times', () => {
    const files = javaLayer(layerOf(contract));
    expect(files['records/PackageSortedEvent.java']).toContain('public SortedPackage data()');
    expect(files['records/EventTypes.java']).toContain('case "package.sorted":');
    expect(files['records/SortedPackage.java']).toContain('public Instant sortedAt()');
  });

  test('has a class of its own in PHP, with its times', () => {
    const files = phpSources(contract, {});
    expect(files['EventTypes.php']).toContain("'package.sorted' => Event\\PackageSorted::class");
    expect(files['Event/PackageSorted.php']).toContain('public function record(): SortedPackage');
    expect(files['Record/SortedPackage.php']).toContain('public function sortedAt(): ?DateTimeImmutable');
  });

  test('has a class of its own in Python', () => {
    expect(pythonTables(pythonContract(contract))['events.py']).toContain(
      '    if name == "package.sorted":\n        return models.PackageSortedEvent.from_dict(body)',
    );
  });
});

test('a new field and a new filter are in the types of Go and Java', () => {
  const go = goLayer(layerOf(contract))['types.gen.go'];
  expect(go).toContain('PromisedOn *time.Time `json:"promised_on"`');
  expect(go).toContain('f.setText("bay", s.Bay)');
  const java = javaLayer(layerOf(contract));
  expect(java['records/Prealert.java']).toContain('public LocalDate promisedOn()');
  expect(java['records/PackageSearch.java']).toContain('public PackageSearch bay(String bay)');
});

test('the layers have no types of the generated code in their calls', () => {
  const { 'services.gen.go': services = '', 'types.gen.go': types = '' } = goLayer(layerOf(contract));
  expect(services).toContain('func (s *PrealertsService) Submit(');
  expect(`${services}${types}`).not.toMatch(matching(/\bapi\./, 'api.Prealert'));
  const java = javaLayer(layerOf(contract));
  expect(java['PrealertsService.java']).toContain('submit(PrealertSubmission input)');
  expect(Object.values(java).filter((text) => text.includes('import example.crossdock.model'))).toEqual([]);
});

test('the times of the contract are datetimes for the generator of Python, and a list has no default size', () => {
  const { components, paths } = pythonContract(contract);
  expect(components.schemas['UtcDateTime']).toMatchObject({ type: 'string', format: 'date-time' });
  expect(JSON.stringify({ components, paths })).not.toMatch(
    matching(/"name":"limit"[^{}]*"schema":\{[^{}]*"default"/, '"name":"limit","schema":{"default":25}'),
  );
  expect(components.schemas['PackageSearch']?.properties?.['limit']).not.toHaveProperty('default');
});
