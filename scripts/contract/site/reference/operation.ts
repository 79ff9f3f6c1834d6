// One operation of the contract, or one request that we send, as Markdown.
import {
  credentialOf,
  DOCUMENTED_METHODS,
  operationsOf,
  resolve,
  type Contract,
  type Located,
  type Media,
  type Operation,
  type RequestBody,
  type Response,
} from '../../document/openapi.js';
import { mapValues } from '../../document/records.js';
import type { Samples } from '../../samples/code-samples.js';
import { serverUrl } from '../../samples/sample-requests.js';
import { fieldTables, parameterTable } from './fields.js';

/** Returns the operations and the requests that we send, in the order of the contract. */
export const listOperations = ({ paths, webhooks }: Contract): Located[] => [
  ...operationsOf(paths, DOCUMENTED_METHODS),
  ...operationsOf(webhooks, DOCUMENTED_METHODS),
];

/** @param sample the operation's first sample for the shell, if it has one */
export function operationText(
  bundle: Contract,
  { path, method, operation }: Located,
  sample: string | undefined,
): string {
  const { summary, description = '', parameters = [], requestBody, responses } = operation;
  const isOurs = !path.startsWith('/');
  const parts = [
    `# ${summary}`,
    facts(bundle, { path, method, operation }),
    description.trim(),
    parameters.length > 0 ? `## Parameters\n\n${parameterTable(bundle, parameters)}` : '',
    ...bodySections(bundle, requestBody),
    ...(isOurs
      ? []
      : Object.entries(responses).flatMap(([status, each]) => successSections(bundle, status, each))),
    isOurs ? '' : failureSection(bundle, responses),
    sample ? `## Sample\n\n\`\`\`sh\n${sample}\n\`\`\`` : '',
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function facts(bundle: Contract, { path, method, operation }: Located): string {
  const { operationId, requestBody, 'x-permission': permission, 'x-scopes': scopes } = operation;
  if (!path.startsWith('/')) return `A request that we send to you. Operation \`${operationId}\`.`;
  const types = Object.keys(requestBody?.content ?? {}).map((type) => `\`${type}\``);
  const facts = [
    `\`${method.toUpperCase()} ${serverUrl(bundle)}${path}\``,
    `Operation \`${operationId}\`.`,
    CREDENTIALS[credentialOf(operation.security ?? bundle.security)],
    permission ? `Permission \`${permission}\`.` : '',
    scopes ? `Scope of a service token: ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.` : '',
    types.length > 0 ? `Body: ${types.join(' or ')}.` : '',
  ];
  return facts.filter(Boolean).join(' ');
}

const CREDENTIALS = {
  token: 'Header `Authorization: Bearer <token>`.',
  key: 'Header `X-API-KEY: <key>`.',
  none: 'No credential.',
};

function bodySections(bundle: Contract, requestBody: RequestBody | undefined): string[] {
  const content = Object.entries(requestBody?.content ?? {});
  return content.map(([type, { schema }]) => {
    const title = content.length > 1 ? `## Body as \`${type}\`` : '## Body';
    return `${title}\n\n${fieldTables(bundle, schema)}`;
  });
}

/** What every response has is described once, in the reference. */
const ENVELOPE = ['status', 'message', 'timestamp'];

/** Returns the sections of a response that is a success. */
function successSections(bundle: Contract, status: string, written: Response): string[] {
  if (Number(status) >= 400) return [];
  const { description, content = {} } = resolve(bundle, written);
  const fields = Object.entries(content).map(([type, media]) => {
    const [example] = examplesOf(bundle, media);
    const shown = example && type === 'application/json' ? `\n\n${json(example)}` : '';
    const table =
      type === 'application/json' ? fieldTables(bundle, media.schema, ENVELOPE) : `A file: \`${type}\`.`;
    return `${table}${shown}`;
  });
  return [[`## Response ${status}`, description, ...fields].join('\n\n')];
}

const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

function examplesOf(bundle: Contract, { example, examples = {} }: Partial<Media>): unknown[] {
  const named = Object.values(examples).map((each) => resolve(bundle, each).value);
  return [example, ...named].filter((value) => value !== undefined);
}

/** Returns the table of the codes that the operation can return. */
function failureSection(bundle: Contract, responses: Operation['responses']): string {
  const rows = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, written]) => `| ${status} | ${codesOf(bundle, written).join(', ')} |`);
  return rows.length > 0 ? ['## Failures', '', '| Status | `code` |', '|---|---|', ...rows].join('\n') : '';
}

function codesOf(bundle: Contract, written: Response): string[] {
  const media = resolve(bundle, written).content?.['application/json'] ?? {};
  const codes = // Each is a failure.
    examplesOf(bundle, media).map((value) => (value as { code: string }).code);
  return [...new Set(codes)].map((code) => `[\`${code}\`](/docs/errors#${code})`);
}

/** Returns the first sample of each operation for the shell, by operationId. */
export const firstSamples = (samples: Samples): Record<string, string | undefined> =>
  mapValues(samples, ([first]) => first?.samples.curl);
