import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Contract, Schema } from '../../../scripts/contract-diff/contract.js';
import { readLastRelease, storeRelease } from '../../../scripts/contract-diff/released.js';
import { describeVerdict } from '../../../scripts/contract-diff/report.js';
import { judge, type Bump } from '../../../scripts/contract-diff/verdict.js';
import { rounds } from '../../support/harness/effort.js';
import { openEditor, type Editor } from '../../support/readers/contract-editor.js';

const last = await readLastRelease();
if (!last) throw new Error('No contract has been released.');
const released: Contract = last;

type Edit = (editor: Editor, contract: Contract) => void;

const SUBMIT = 'POST /api/Prealert.php';
const MANIFEST = 'POST /api/ManageManifest.php';
const LIST = 'GET /api/ManagePrealerts.php';
const SEARCH = 'POST /api/RetrievePackages.php';
const RECEIVE = 'POST /api/ReceivePackage.php';
const LABEL = 'GET /api/PackageLabel.php';

/** The released contract without the paths that no edit needs, because a comparison of all takes ten times as long. */
const part: Contract = {
  ...released,
  paths: Object.fromEntries(
    [SUBMIT, MANIFEST, LIST, SEARCH, RECEIVE, LABEL].map((call) => {
      const path = call.replace(/^\w+ /, '');
      return [path, released.paths[path] ?? {}];
    }),
  ),
};

/** Returns the verdict on a contract after an edit. `prepare` also edits the contract that it is compared with. */
function judgeEdit(
  edit: Edit,
  {
    prepare = () => {},
    changelog = '',
    base = part,
  }: { prepare?: Edit; changelog?: string; base?: Contract } = {},
) {
  const [before, after] = [structuredClone(base), structuredClone(base)];
  for (const contract of [before, after]) prepare(openEditor(contract), contract);
  edit(openEditor(after), after);
  return judge(before, after, changelog);
}

const fieldsOf = (schema: Schema) => (schema['properties'] ?? {}) as Record<string, Schema>;

const without = (list: unknown, value: string) => (list as string[]).filter((each) => each !== value);

/** Edits one field of a schema in place. */
function change(
  { properties }: { properties: Record<string, Schema> },
  name: string,
  keywords: Schema,
): void {
  properties[name] = { ...properties[name], ...keywords };
}

type Row = { title: string; edit: Edit; bump: Bump; says?: RegExp; prepare?: Edit };

const BREAKING: Omit<Row, 'bump'>[] = [
  {
    title: 'an operation is removed',
    edit: (_, { paths }) => delete paths['/api/PackageLabel.php'],
    says: /GET \/api\/PackageLabel\.php\)\n +BREAKING +The operation was removed/,
  },
  {
    title: 'an operationId is renamed',
    edit: ({ operation }) => (operation(SUBMIT).operationId = 'announce'),
    says: /operationId is announce now/,
  },
  {
    title: 'a response field is removed',
    edit: ({ output }) => delete output(LIST, '200', 'data.vendor').properties['vendor'],
    says: /response 200, data\[\]\.vendor .*The field was removed/,
  },
  {
    title: 'a response field becomes optional',
    edit: ({ output }) => {
      const owner = output(LIST, '200', 'data.vendor');
      owner.required = without(owner.required, 'vendor');
    },
    says: /vendor .*The field is optional now/,
  },
  {
    title: 'the type of a response field changes',
    edit: ({ output }) => change(output(LIST, '200', 'data.vendor'), 'vendor', { type: 'integer' }),
    says: /The type was string and is integer/,
  },
  {
    title: 'a response field becomes nullable',
    edit: ({ output }) =>
      change(output(LIST, '200', 'data.courier_name'), 'courier_name', { type: ['string', 'null'] }),
    says: /courier_name .*can be null now/,
  },
  {
    title: 'a closed enum of responses gets a value',
    edit: ({ output }) =>
      change(output(SUBMIT, '400', 'status'), 'status', { enum: ['fail', 'error', 'retry'] }),
    says: /The value "retry" is new.*outside a closed list.* Also: .* more\./,
  },
  {
    title: 'an error code is removed from an operation',
    edit: ({ response }) => {
      const { content = {} } = response(SUBMIT, '409');
      const examples = content['application/json']?.examples ?? {};
      for (const name of Object.keys(examples)) if (name.startsWith('duplicate')) delete examples[name];
    },
    says: /response 409: The code duplicate_tracking_number was removed/,
  },
  {
    title: 'an extensible enum loses a value',
    edit: ({ output, resolve }) => {
      const status = resolve(output(LIST, '200', 'data.status').properties['status'] ?? {});
      status['x-extensible-enum'] = without(status['x-extensible-enum'], 'flagged');
    },
    says: /The value "flagged" was removed/,
  },
  {
    title: 'a request enum loses a value',
    edit: ({ input }) => change(input(SEARCH, 'export_format'), 'export_format', { enum: ['csv'] }),
    says: /request body, export_format .*"xlsx" was removed/,
  },
  {
    title: 'a request bound is lowered',
    edit: ({ input }) => change(input(SEARCH, 'limit'), 'limit', { maximum: 100 }),
    says: /maximum was 10000 and is 100/,
  },
  {
    title: 'a request bound excludes its own value',
    edit: ({ input }) => {
      const { properties } = input(SEARCH, 'limit');
      const { minimum, ...rest } = properties['limit'] ?? {};
      properties['limit'] = { ...rest, exclusiveMinimum: minimum };
    },
    says: /minimum was 1 and is 1 \(exclusive\)/,
  },
  {
    title: 'a request pattern changes',
    edit: ({ input }) => change(input(RECEIVE, 'tracking_number'), 'tracking_number', { pattern: '^\\S+$' }),
    says: /pattern was/,
  },
  {
    title: 'a request field gets a format',
    edit: ({ input }) => change(input(RECEIVE, 'user_code'), 'user_code', { format: 'uuid' }),
    says: /format was none and is "uuid"/,
  },
  {
    title: 'a request field is removed',
    edit: ({ input }) => delete input(SUBMIT, 'Vendor').properties['Vendor'],
    says: /Vendor .*The field was removed\. The service ignores it now/,
  },
  {
    title: 'a new request field is required',
    edit: ({ input }) => {
      const owner = input(RECEIVE, 'weight');
      owner.properties['scale_id'] = { type: 'string' };
      owner.required = [...(owner.required ?? []), 'scale_id'];
    },
    says: /scale_id .*new and required/,
  },
  {
    title: 'an optional request field becomes required',
    edit: ({ input }) => {
      const owner = input(RECEIVE, 'length');
      owner.required = [...(owner.required ?? []), 'length'];
    },
    says: /length .*required now/,
  },
  {
    title: 'a default changes',
    edit: ({ parameter }) => {
      const { schema } = parameter(LIST, 'limit') ?? {};
      if (schema) schema['default'] = 7;
    },
    says: /query parameter limit: The default was \d+ and is 7/,
  },
  {
    title: 'the body limit is lowered',
    edit: ({ operation }) => {
      const { requestBody } = operation(SUBMIT);
      if (requestBody) requestBody['x-max-body-bytes'] = 1024;
    },
    says: /x-max-body-bytes was 65536 bytes and is 1024 bytes/,
  },
  {
    title: 'an action is removed',
    edit: ({ body }) => {
      const schema = body(MANIFEST);
      // OpenAPI defines these types.
      const { mapping } = schema['discriminator'] as { mapping: Record<string, string> };
      const removed = mapping['remove_packages'];
      delete mapping['remove_packages'];
      schema['oneOf'] = (schema['oneOf'] as Schema[]).filter(({ $ref }) => $ref !== removed);
    },
    says: /request body .*: action "remove_packages" was removed/,
  },
  {
    title: 'a query parameter is removed',
    edit: ({ operation, parameter, resolve }) => {
      const removed = parameter(LIST, 'search');
      const described = operation(LIST);
      described.parameters = described.parameters?.filter((each) => resolve(each) !== removed) ?? [];
    },
    says: /query parameter search: It was removed/,
  },
  {
    title: 'a new header is required',
    edit: ({ operation }) =>
      operation(SUBMIT).parameters?.push({
        name: 'X-Sender',
        in: 'header',
        required: true,
        schema: { type: 'string' },
      }),
    says: /header x-sender: It is new and required/,
  },
  {
    title: 'a status is removed',
    edit: ({ operation }) => delete operation(SUBMIT).responses['409'],
    says: /response 409: The status was removed/,
  },
  {
    title: 'a media type of a response is removed',
    edit: ({ response }) => delete response(LABEL, '200').content?.['application/zpl'],
    says: /The media type application\/zpl was removed/,
  },
  {
    title: 'a response header is removed',
    edit: ({ response }) => delete response(LABEL, '200').headers?.['Content-Disposition'],
    says: /header Content-Disposition: The header was removed/,
  },
  {
    title: 'another credential is needed',
    edit: ({ operation }) => (operation(SUBMIT).security = [{ bearerAuth: [] }]),
    says: /security: apiKeyHeader is no longer sufficient/,
  },
  {
    title: 'a security scheme is removed',
    edit: (_, { components }) => delete components.securitySchemes?.['apiKeyHeader'],
    says: /apiKeyHeader: The scheme was removed/,
  },
  {
    title: 'a permission changes',
    edit: ({ operation }) => (operation(LIST)['x-permission'] = 'prealert:edit'),
    says: /permission: It was prealert:view and is prealert:edit/,
  },
  {
    title: 'a webhook is removed',
    edit: (_, { webhooks = {} }) => delete webhooks['packageUpdated'],
    says: /Webhook packageUpdated\n +BREAKING +The webhook was removed/,
  },
  {
    title: 'a webhook field is removed',
    edit: ({ webhookField }) =>
      delete webhookField('packageCreated', 'data.house_number').properties['house_number'],
    says: /Webhook packageCreated\n +BREAKING +body, data\.house_number .*The field was removed/,
  },
  {
    title: 'a webhook header is removed',
    edit: ({ webhook }) => webhook('packageCreated').parameters?.pop(),
    says: /header webhook-signature: It was removed/,
  },
  {
    title: 'a success response gets another form',
    edit: ({ response }) => {
      const media = response(LIST, '200').content?.['application/json'];
      if (media) media.schema = { oneOf: [media.schema, { type: 'string' }] };
    },
    says: /A form of the value is new/,
  },
  {
    title: 'the entries of a map are removed',
    prepare: ({ output }) => {
      output(LIST, '200', 'data.vendor').properties['tags'] = { additionalProperties: { type: 'string' } };
    },
    edit: ({ output }) => {
      output(LIST, '200', 'data.vendor').properties['tags'] = { additionalProperties: false };
    },
    says: /tags\[any name\] .*were removed/,
  },
  {
    title: 'a webhook gets another form',
    edit: ({ webhook }) => {
      const media = webhook('packageCreated').requestBody?.content['application/json'];
      if (media) media.schema = { oneOf: [media.schema, { type: 'array' }] };
    },
    says: /Webhook packageCreated\n +BREAKING +body.*: A form of the value is new/,
  },
  {
    title: 'a named schema is renamed',
    edit: (_, { components: { schemas } }) => {
      const [name = ''] = Object.keys(schemas);
      schemas['Renamed'] = schemas[name] ?? {};
      delete schemas[name];
      const text = JSON.stringify(schemas).replaceAll(`schemas/${name}"`, 'schemas/Renamed"');
      Object.assign(schemas, JSON.parse(text));
    },
    prepare: (_, contract) => (contract.paths = {}),
    says: /Generated clients lose the type/,
  },
];

const TREE: Schema = {
  type: 'object',
  properties: { children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
};
const addTree: Edit = ({ output }, { components }) => {
  components.schemas['Tree'] = structuredClone(TREE);
  output(SUBMIT, '201', 'data.prealert_id').properties['tree'] = { $ref: '#/components/schemas/Tree' };
};

const HARMLESS: Row[] = [
  { title: 'nothing changes', edit: () => {}, bump: 'none' },
  {
    title: 'a description changes',
    edit: ({ operation }) => Object.assign(operation(SUBMIT), { description: 'Announces a parcel.' }),
    bump: 'patch',
  },
  {
    title: 'an example changes',
    edit: ({ operation }) => {
      const media = operation(SUBMIT).requestBody?.content['application/json'];
      for (const example of Object.values(media?.examples ?? {})) example.value = {};
    },
    bump: 'patch',
  },
  {
    title: 'paths, fields and keywords change their order',
    edit: (_, contract) => {
      const reversed = (node: unknown): unknown => {
        if (Array.isArray(node)) return node.map(reversed);
        if (typeof node !== 'object' || node === null) return node;
        return Object.fromEntries(
          Object.entries(node)
            .reverse()
            .map(([key, value]) => [key, reversed(value)]),
        );
      };
      Object.assign(contract, reversed(structuredClone(contract)));
    },
    bump: 'none',
  },
  {
    title: 'required fields, enum values and actions change their order',
    edit: ({ body, output, input }) => {
      (body(MANIFEST)['oneOf'] as Schema[]).reverse();
      output(LIST, '200', 'data.vendor').required?.reverse();
      (
        input(SEARCH, 'export_format').properties['export_format']?.['enum'] as string[] | undefined
      )?.reverse();
    },
    bump: 'patch',
  },
  {
    title: 'an excluded array states that it may have any items',
    prepare: ({ output }) => {
      output(LIST, '200', 'data.vendor')['not'] = { required: ['a'], properties: { a: { type: 'array' } } };
    },
    edit: ({ output }) => {
      const properties = { a: { type: 'array', items: {} } };
      output(LIST, '200', 'data.vendor')['not'] = { required: ['a'], properties };
    },
    bump: 'patch',
  },
  {
    title: 'an inline schema moves to a component',
    edit: ({ output }, { components }) => {
      const { properties } = output(LIST, '200', 'data.vendor');
      components.schemas['VendorName'] = properties['vendor'] ?? {};
      properties['vendor'] = { $ref: '#/components/schemas/VendorName' };
    },
    bump: 'patch',
  },
  {
    title: 'an object is split into parts',
    edit: ({ output }) => {
      const owner = output(LIST, '200', 'data.vendor');
      const { vendor = {}, ...rest } = owner.properties;
      const parts = [
        { type: 'object', properties: rest },
        { type: 'object', required: owner.required, properties: { vendor } },
      ];
      for (const key of Object.keys(owner)) delete owner[key];
      Object.assign(owner, { allOf: parts });
    },
    bump: 'patch',
  },
  {
    title: 'null is spelled as a branch',
    edit: ({ output }) => {
      const { properties } = output(LIST, '200', 'data.first_name');
      properties['first_name'] = { oneOf: [{ type: 'string' }, { type: 'null' }] };
    },
    bump: 'patch',
  },
  {
    title: 'a recursive schema is described',
    prepare: addTree,
    edit: (_, { components }) => Object.assign(components.schemas['Tree'] ?? {}, { description: 'A tree.' }),
    bump: 'patch',
  },
  {
    title: 'a recursive schema gets a field',
    prepare: addTree,
    edit: (_, { components }) =>
      Object.assign(components.schemas['Tree']?.['properties'] ?? {}, { leaf: { type: 'boolean' } }),
    bump: 'minor',
    says: /tree\.leaf \(Tree\.leaf\): The field is new/,
  },
  {
    title: 'an operation is added',
    edit: ({ operation }, { paths }) => {
      paths['/api/New.php'] = { post: { ...operation(SUBMIT), operationId: 'createNew' } };
    },
    bump: 'minor',
    says: /createNew \(POST \/api\/New\.php\)\n +COMPATIBLE +The operation is new/,
  },
  {
    title: 'a request gets an optional field',
    edit: ({ input }) => (input(RECEIVE, 'weight').properties['scale_id'] = { type: 'string' }),
    bump: 'minor',
    says: /scale_id/,
  },
  {
    title: 'a response gets a field',
    edit: ({ output }) => {
      const owner = output(LIST, '200', 'data.vendor');
      owner.properties['colour'] = { type: 'string' };
      owner.required = [...(owner.required ?? []), 'colour'];
    },
    bump: 'minor',
    says: /colour/,
  },
  {
    title: 'an extensible enum gets a value',
    edit: ({ output, resolve }) => {
      const status = resolve(output(LIST, '200', 'data.status').properties['status'] ?? {});
      (status['x-extensible-enum'] as string[]).push('lost');
    },
    bump: 'minor',
    says: /The value "lost" is new/,
  },
  {
    title: 'a request bound is raised',
    edit: ({ input }) => change(input(SEARCH, 'limit'), 'limit', { maximum: 20_000 }),
    bump: 'minor',
    says: /maximum was 10000 and is 20000/,
  },
  {
    title: 'an exclusive request bound becomes inclusive',
    edit: ({ input }) => {
      const { properties } = input(RECEIVE, 'weight');
      const { exclusiveMinimum, ...rest } = properties['weight'] ?? {};
      properties['weight'] = { ...rest, minimum: exclusiveMinimum };
    },
    bump: 'minor',
  },
  {
    title: 'a response field is no longer nullable',
    edit: ({ output }) => change(output(LIST, '200', 'data.first_name'), 'first_name', { type: 'string' }),
    bump: 'minor',
  },
  {
    title: 'an error code is added to an operation',
    edit: ({ response }) => {
      const media = response(SUBMIT, '409').content?.['application/json'];
      Object.assign(media?.examples ?? {}, {
        parcel_lost: { value: { status: 'fail', code: 'parcel_lost' } },
      });
    },
    bump: 'minor',
    says: /The code parcel_lost is new/,
  },
  {
    title: 'an action is added, with its own response',
    edit: ({ body, response }, { components }) => {
      components.schemas['WeighManifest'] = {
        type: 'object',
        required: ['action'],
        properties: { action: { const: 'weigh' } },
      };
      const reference = '#/components/schemas/WeighManifest';
      const schema = body(MANIFEST);
      (schema['oneOf'] as Schema[]).push({ $ref: reference });
      (schema['discriminator'] as { mapping: Record<string, string> }).mapping['weigh'] = reference;
      const media = response(MANIFEST, '200').content?.['application/json'];
      if (media) media.schema = { oneOf: [media.schema, { type: 'object', required: ['total_weight'] }] };
    },
    bump: 'minor',
    says: /action "weigh" is new/,
  },
  {
    title: 'a success response gets a form that a caller must choose',
    edit: ({ response }) => {
      const media = response(LIST, '200').content?.['application/json'];
      if (media) media.schema = { oneOf: [media.schema, { type: 'string', 'x-chosen-with': ['events'] }] };
    },
    bump: 'minor',
    says: /A form of the value is new\. Only those who name it in events get it/,
  },
  {
    title: 'another credential is also accepted',
    edit: ({ operation }) => operation(SUBMIT).security?.push({ bearerAuth: [] }),
    bump: 'minor',
    says: /security: bearerAuth is accepted now/,
  },
  {
    title: 'a webhook gets a field',
    edit: ({ webhookField }) =>
      (webhookField('packageCreated', 'data.house_number').properties['colour'] = { type: 'string' }),
    bump: 'minor',
    says: /colour/,
  },
  {
    title: 'an operation is deprecated',
    edit: ({ operation }) => (operation(SUBMIT).deprecated = true),
    bump: 'minor',
    says: /deprecated now/,
  },
];

const rows: Row[] = [...BREAKING.map((row) => ({ ...row, bump: 'major' as const })), ...HARMLESS];

describe('contract:diff names the version bump of an edit', () => {
  test.each(rows)('$bump: $title', ({ edit, bump, says = /./, prepare = () => {} }) => {
    const verdict = judgeEdit(edit, { prepare });
    const report = describeVerdict(verdict).join('\n');
    expect([verdict.bump, report]).toEqual([bump, expect.stringMatching(says)]);
    // A correction of texts needs no new version at once, and every other change does.
    expect(verdict.problems.length > 0).toBe(bump === 'major' || bump === 'minor');
  });

  test('every field that is removed is breaking', () => {
    const { schemas } = released.components;
    const fields = Object.entries(schemas).flatMap(([name, schema]) =>
      Object.keys(fieldsOf(schema)).map((field) => ({ name, field })),
    );
    const sample = rounds(4, 200);
    const harmless = fields.filter(({ name, field }, n) => {
      if (n % Math.floor(fields.length / sample) > 0) return false;
      const edit: Edit = (_, { components }) => {
        delete fieldsOf(components.schemas[name] ?? {})[field];
      };
      return judgeEdit(edit, { base: released }).bump !== 'major';
    });
    expect(harmless).toEqual([]);
  });
});

describe('contract:diff compares the version and the changelog', () => {
  const addField: Edit = ({ output }) =>
    (output(LIST, '200', 'data.vendor').properties['colour'] = { type: 'string' });
  const named = '# Changelog\n\n## Unreleased\n\n- Pre-alerts have a `colour`.\n\n## 1.0.0\n';

  test('an addition needs a higher minor version and its name in the changelog', () => {
    expect(judgeEdit(addField).problems).toEqual([
      expect.stringMatching(/need version \d+\.\d+\.0, and info\.version is/),
      'CHANGELOG.md does not mention under "Unreleased": colour.',
    ]);
  });

  test('an addition with both is accepted', () => {
    const raise: Edit = (editor, contract) => {
      addField(editor, contract);
      const [major, minor] = contract.info.version.split('.').map(Number);
      contract.info.version = `${major}.${Number(minor) + 1}.0`;
    };
    expect(judgeEdit(raise, { changelog: named }).problems).toEqual([]);
    const renamed = named.replace('Unreleased', '0.9.0').concat('## Unreleased\n\n- Nothing colourful.\n');
    expect(judgeEdit(raise, { changelog: renamed }).problems).toHaveLength(1);
  });

  test('a breaking change is accepted only with the next major version', () => {
    const rename =
      (version: string): Edit =>
      ({ operation }, contract) => {
        operation(SUBMIT).operationId = 'colour';
        contract.info.version = version;
      };
    expect(judgeEdit(rename('1.9.0'), { changelog: named }).problems).toEqual([
      'Breaking changes need version 2.0.0, and info.version is 1.9.0. Undo them.',
    ]);
    expect(judgeEdit(rename('2.0.0'), { changelog: named }).problems).toEqual([]);
  });

  test('a version below the last release is refused', () => {
    const lower: Edit = (_, { info }) => (info.version = '0.9.0');
    expect(judgeEdit(lower).problems).toHaveLength(1);
  });
});

describe('released contracts never change', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'released-'));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  test('contract:release stores a version once, and contract:diff refuses an edited file', async () => {
    expect(await readLastRelease(folder)).toBeUndefined();
    const small = { ...released, info: { ...released.info, version: '1.2.0' } };
    await storeRelease(small, folder);
    await expect(storeRelease(small, folder)).rejects.toThrow('Version 1.2.0 was released.');
    await storeRelease({ ...small, info: { ...small.info, version: '1.10.0' } }, folder);
    expect((await readLastRelease(folder))?.info.version).toBe('1.10.0');
    const path = join(folder, '1.2.0.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace('Crossdock', 'Crossdocks'));
    await expect(readLastRelease(folder)).rejects.toThrow('1.2.0.json is not as it was released');
    await rm(path);
    await expect(readLastRelease(folder)).rejects.toThrow('1.2.0.json is not as it was released');
  });
});
