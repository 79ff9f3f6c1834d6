import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import ipaddr from 'ipaddr.js';
import { parse, parseAllDocuments } from 'yaml';
import { projectRoot } from '../../../src/config/project-root.js';
import { SECRET_SETTINGS } from '../../../src/config/secret-files.js';
import { isPublicAddress } from '../../../src/platform/outbound/addresses.js';
import { outputOf, makeTestWith } from '../../support/harness/programs.js';

const testWith = makeTestWith(test);

// deploy/helm, by its schema, and as Helm renders it where it is installed.

const chart = join(projectRoot, 'deploy', 'helm', 'crossdock');
const read = (name: string) => readFileSync(join(chart, name), 'utf8');

type Values = Record<string, unknown>;

/** Merges as Helm does: objects by key, everything else replaces. */
const merge = (base: Values, over: Values): Values => ({
  ...base,
  ...Object.fromEntries(
    Object.entries(over).map(([key, value]) => [
      key,
      isObject(base[key]) && isObject(value) ? merge(base[key], value) : value,
    ]),
  ),
});

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const DEFAULTS: Values = parse(read('values.yaml'));
const isValid = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')));
const faultsOf = (values: Values): unknown[] => {
  isValid(merge(DEFAULTS, values));
  return isValid.errors ?? [];
};

describe('the schema of the values', () => {
  test.each(['staging', 'production'])('accepts the values of %s', (name) => {
    expect(faultsOf(parse(read(`values.${name}.yaml`)))).toEqual([]);
  });

  test.each<[string, Values]>([
    ['scheduling of all pods', { nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'a' }], affinity: {} }],
    ['scheduling of the API', { api: { nodeSelector: { disk: 'ssd' }, podAnnotations: { a: 'b' } } }],
    [
      'a role for mail',
      { serviceAccount: { create: true, annotations: { 'eks.amazonaws.com/role-arn': 'arn' } } },
    ],
    ['the endpoint of pod identities', { networkPolicy: { credentials: { cidrs: ['169.254.170.23/32'] } } }],
    ['settings with numbers and booleans', { settings: { POOL_SIZE: 10, RUN_WORKER: false } }],
    ['a file of a key', { settings: { TLS_KEY_FILE: '/tls/key.pem' } }],
    ['a profile of AWS', { settings: { AWS_PROFILE: 'mail', AWS_WEB_IDENTITY_TOKEN_FILE: '/token' } }],
    ['no replica, to stop', { api: { replicas: 0 }, worker: { replicas: 0 } }],
  ])('accepts %s', (_, values) => expect(faultsOf(values)).toEqual([]));

  test.each<[string, Values]>([
    ['a number of replicas that is text', { api: { replicas: 'abc' } }],
    ['a number of replicas in quotes', { worker: { replicas: '2' } }],
    ['half a replica', { api: { replicas: 1.5 } }],
    ['a negative number', { worker: { replicas: -1 } }],
    ['a key that does not exist', { api: { replica: 3 } }],
    ['a section that does not exist', { apis: {} }],
    ['a port that does not exist', { networkPolicy: { database: { ports: [70000] } } }],
    ['an address without a prefix', { networkPolicy: { database: { cidr: '10.0.0.1' } } }],
    ['a pooler in another mode', { databasePooler: 'statement' }],
    ['a tag that YAML reads as a number', { image: { tag: 1.1 } }],
    ['a host with a scheme', { ingress: { hosts: ['https://gateway.example.com'] } }],
    ['no host', { ingress: { hosts: [] } }],
    ['tolerations that are not a list', { tolerations: { key: 'a' } }],
    ['an annotation that is not text', { podAnnotations: { a: true } }],
    ['a number that Helm writes as 1e+06', { settings: { CUSTOMER_CHANGES_PER_DAY: 1_000_000 } }],
    ['a setting in lower case', { settings: { app_env: 'staging' } }],
    ['a list as a setting', { settings: { OUTBOUND_HOSTS: ['a'] } }],
  ])('refuses %s', (_, values) => expect(faultsOf(values)).not.toEqual([]));

  test.each([...SECRET_SETTINGS, 'CROSSDOCK_PASSWORD', 'PGPASSWORD', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'])(
    'refuses %s among the settings, which are in a ConfigMap',
    (name) => {
      expect(faultsOf({ settings: { [name]: 'x' } })).not.toEqual([]);
    },
  );

  test('refuses a password in the value of any setting', () => {
    for (const value of [
      'postgres://a:b@db/crossdock',
      'https://user:pass@collector',
      '-----BEGIN PRIVATE KEY-----',
    ])
      expect(faultsOf({ settings: { OTHER: value } })).not.toEqual([]);
    expect(
      faultsOf({ settings: { PASSWORD_RESET_URL: 'https://portal.example.com/reset#token={token}' } }),
    ).toEqual([]);
  });
});

type Container = { securityContext: unknown; resources: unknown };
type Source = { secret: { optional?: boolean; items: { key: string }[] } };
type Pod = {
  securityContext: unknown;
  automountServiceAccountToken: boolean;
  serviceAccountName?: string;
  nodeSelector?: unknown;
  tolerations?: unknown;
  affinity?: unknown;
  containers: Container[];
  volumes: { projected?: { sources: Source[] } }[];
};
type Rule = { to?: { ipBlock: { cidr: string; except?: string[] } }[] };
type Resource = {
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  spec?: { egress?: Rule[]; template?: { metadata: { annotations?: Record<string, string> }; spec: Pod } };
};

const render = (program: string, name: string, ...more: string[]): Resource[] =>
  parseAllDocuments(
    outputOf(chart, program, [
      ...['template', 'crossdock', chart, '--kube-version', '1.33.0'],
      ...['-f', join(chart, `values.${name}.yaml`), ...more],
    ]),
  )
    .map((document): Resource => {
      if ('errors' in document) expect(document.errors).toEqual([]);
      return document.toJS();
    })
    .filter(Boolean);

const podsOf = (resources: Resource[]): Map<string, Pod> =>
  new Map(
    resources.flatMap(({ metadata, spec }): [string, Pod][] =>
      spec?.template ? [[metadata.name.replace('crossdock-', ''), spec.template.spec]] : [],
    ),
  );

describe('helm', () => {
  testWith(['helm'], 'the chart does not render without the values of an environment', (program) => {
    const required = 'settings.APP_ENV must be staging or production';
    const refused =
      (...more: string[]) =>
      () =>
        outputOf(chart, program, ['template', 'crossdock', chart, '--kube-version', '1.33.0', ...more]);
    expect(refused()).toThrow(required);
    expect(refused('--set', 'settings.APP_ENV=development')).toThrow(required);
    const staging = ['-f', join(chart, 'values.staging.yaml')];
    expect(refused(...staging, '--set', 'settings.APP_ENV=')).toThrow(required);
    expect(refused(...staging)()).toContain('{ name: APP_ENV, value: staging }');
  });

  for (const name of ['staging', 'production']) {
    testWith(['helm'], `${name}: the chart passes the lint and hardens every pod`, (program) => {
      outputOf(chart, program, ['lint', '--strict', chart, '-f', join(chart, `values.${name}.yaml`)]);
      const resources = render(program, name, '--set', 'databasePooler=transaction');
      const pods = podsOf(resources);
      expect([...pods.keys()].sort()).toEqual(['api', 'migrate', 'worker']);
      for (const pod of pods.values()) {
        expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65532 });
        expect(pod.automountServiceAccountToken).toBe(false);
        for (const { securityContext, resources: limits } of pod.containers) {
          expect(securityContext).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
          expect(limits).toMatchObject({
            requests: { cpu: expect.anything() },
            limits: { memory: expect.anything() },
          });
        }
      }
      const optional = (pod: Pod | undefined) =>
        (pod?.volumes ?? [])
          .flatMap(({ projected }) => projected?.sources ?? [])
          .flatMap(({ secret }) => (secret.optional ? secret.items.map(({ key }) => key) : []));
      expect(optional(pods.get('api'))).toHaveLength(3);
      expect(optional(pods.get('worker'))).toContain('AWS_SECRET_ACCESS_KEY');
      expect(optional(pods.get('migrate'))).toEqual([]);
      const kinds = resources.map(({ kind }) => kind);
      for (const kind of ['NetworkPolicy', 'PodDisruptionBudget', 'Ingress', 'Service', 'ConfigMap', 'Job'])
        expect(kinds).toContain(kind);
      expect(kinds.includes('HorizontalPodAutoscaler')).toBe(name === 'production');
      expect(kinds).not.toContain('ServiceAccount');
    });
  }

  testWith(
    ['helm'],
    'values that the schema refuses do not render, with the key in the message',
    (program) => {
      expect(() => render(program, 'production', '--set', 'api.replicas=abc')).toThrow(/api\.replicas/);
      expect(() => render(program, 'production', '--set', 'settings.TOKEN_KEYS=x')).toThrow(/TOKEN_KEYS/);
    },
  );

  testWith(
    ['helm'],
    'pods run where the values say, a component has its own values before those of all',
    (program) => {
      const json = (path: string, value: unknown) => ['--set-json', `${path}=${JSON.stringify(value)}`];
      const resources = render(
        program,
        'production',
        ...json('nodeSelector', { disk: 'ssd' }),
        ...json('tolerations', [{ key: 'all' }]),
        ...json('affinity', { podAffinity: { a: 1 } }),
        ...json('podAnnotations', { common: 'yes' }),
        ...json('api.nodeSelector', { disk: 'nvme' }),
        ...json('api.podAnnotations', { own: 'yes' }),
      );
      const pods = podsOf(resources);
      for (const [name, pod] of pods)
        expect(pod).toMatchObject({
          nodeSelector: name === 'api' ? { disk: 'nvme' } : { disk: 'ssd' },
          tolerations: [{ key: 'all' }],
          affinity: { podAffinity: { a: 1 } },
        });
      const annotations = resources.flatMap(({ spec }) =>
        spec?.template ? [spec.template.metadata.annotations ?? {}] : [],
      );
      expect(annotations.map((each) => [each['common'], each['own']])).toEqual(
        expect.arrayContaining([
          ['yes', 'yes'],
          ['yes', undefined],
          ['yes', undefined],
        ]),
      );
    },
  );

  testWith(
    ['helm'],
    'a role for mail belongs to the worker only, and its endpoint is allowed to it only',
    (program) => {
      const resources = render(
        program,
        'production',
        ...[
          '--set',
          'serviceAccount.create=true',
          '--set',
          'networkPolicy.credentials.cidrs={169.254.170.23/32}',
        ],
        ...[
          '--set-json',
          'serviceAccount.annotations={"eks.amazonaws.com/role-arn":"arn:aws:iam::1:role/mail"}',
        ],
      );
      const accounts = resources.filter(({ kind }) => kind === 'ServiceAccount');
      expect(accounts.map(({ metadata }) => metadata)).toMatchObject([
        {
          name: 'crossdock-worker',
          annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/mail' },
        },
      ]);
      const pods = podsOf(resources);
      expect([...pods].map(([name, pod]) => [name, pod.serviceAccountName]).sort()).toEqual([
        ['api', undefined],
        ['migrate', undefined],
        ['worker', 'crossdock-worker'],
      ]);
      const allowed = resources
        .filter(
          ({ kind, spec }) => kind === 'NetworkPolicy' && JSON.stringify(spec).includes('169.254.170.23/32'),
        )
        .map(({ metadata }) => metadata.name);
      expect(allowed).toEqual(['crossdock-worker']);
    },
  );

  testWith(['helm'], "the worker's egress leaves out every range that the service refuses", (program) => {
    const policy = render(program, 'production').find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'crossdock-worker',
    );
    const blocks = (policy?.spec?.egress ?? []).flatMap(({ to = [] }) => to.map(({ ipBlock }) => ipBlock));
    const internet = blocks.filter(({ except }) => except !== undefined);
    const contains = (cidr: string, address: string) => {
      const parsed = ipaddr.parse(address);
      const [network, bits] = ipaddr.parseCIDR(cidr);
      return parsed.kind() === network.kind() && parsed.match(network, bits);
    };
    const isAllowed = (address: string) =>
      internet.some(
        ({ cidr, except = [] }) => contains(cidr, address) && !except.some((each) => contains(each, address)),
      );
    const ranges = [new ipaddr.IPv4([0, 0, 0, 0]), new ipaddr.IPv6([0, 0, 0, 0, 0, 0, 0, 0])]
      // The library's table: a range, or a list of ranges, by name.
      .flatMap((any) => Object.values(Reflect.get(any, 'SpecialRanges') as Record<string, unknown>))
      .flatMap((entry) => (Array.isArray(entry) && Array.isArray(entry[0]) ? entry : [entry]))
      .map((entry) => String((entry as [{ toString(): string }, number])[0]));
    expect(ranges.length).toBeGreaterThan(30);
    for (const address of [...ranges, '168.63.129.16', '198.19.255.255', '64:ff9b::a00:1', '4000::1'])
      expect([address, isIP(address) > 0, isPublicAddress(address), isAllowed(address)]).toEqual([
        ...[address, true, false, false],
      ]);
    for (const address of ['1.1.1.1', '223.255.255.255', '2606:4700::1111'])
      expect([address, isPublicAddress(address), isAllowed(address)]).toEqual([address, true, true]);
  });
});
