// One operation of the contract, or one request that we send, as Markdown.
import { serverUrl } from '../../samples/sample-requests.js';
import { fieldTables, parameterTable, resolve } from './fields.js';

const METHODS = ['get', 'post', 'put', 'delete'];

/** Returns the operations and the requests that we send, in the order of the contract. */
export function listOperations({ paths, webhooks = {} }) {
  return [...Object.entries(paths), ...Object.entries(webhooks)].flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({ path, method, operation: item[method] })),
  );
}

/** @param {string} sample the operation's first sample for the shell, if it has one */
export function operationText(bundle, { path, method, operation }, sample) {
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

function facts(bundle, { path, method, operation }) {
  const { operationId, requestBody, 'x-permission': permission } = operation;
  if (!path.startsWith('/')) return `A request that we send to you. Operation \`${operationId}\`.`;
  const types = Object.keys(requestBody?.content ?? {}).map((type) => `\`${type}\``);
  const facts = [
    `\`${method.toUpperCase()} ${serverUrl(bundle)}${path}\``,
    `Operation \`${operationId}\`.`,
    credentialOf(operation.security ?? bundle.security),
    permission ? `Permission \`${permission}\`.` : '',
    types.length > 0 ? `Body: ${types.join(' or ')}.` : '',
  ];
  return facts.filter(Boolean).join(' ');
}

function credentialOf(security) {
  const schemes = security.flatMap((requirement) => Object.keys(requirement));
  if (schemes.includes('bearerAuth')) return 'Header `Authorization: Bearer <token>`.';
  return schemes.length > 0 ? 'Header `X-API-KEY: <key>`.' : 'No credential.';
}

function bodySections(bundle, requestBody) {
  const content = Object.entries(requestBody?.content ?? {});
  return content.map(([type, { schema }]) => {
    const title = content.length > 1 ? `## Body as \`${type}\`` : '## Body';
    return `${title}\n\n${fieldTables(bundle, schema)}`;
  });
}

/** What every response has is described once, in the reference. */
const ENVELOPE = ['status', 'message', 'timestamp'];

/** Returns the sections of a response that is a success. */
function successSections(bundle, status, written) {
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

const json = (value) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

function examplesOf(bundle, { example, examples = {} }) {
  const named = Object.values(examples).map((each) => resolve(bundle, each).value);
  return [example, ...named].filter((value) => value !== undefined);
}

/** Returns the table of the codes that the operation can return. */
function failureSection(bundle, responses) {
  const rows = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, written]) => `| ${status} | ${codesOf(bundle, written).join(', ')} |`);
  return rows.length > 0 ? ['## Failures', '', '| Status | `code` |', '|---|---|', ...rows].join('\n') : '';
}

function codesOf(bundle, written) {
  const media = resolve(bundle, written).content?.['application/json'] ?? {};
  const codes = examplesOf(bundle, media).map(({ code }) => code);
  return [...new Set(codes)].map((code) => `[\`${code}\`](/docs/errors#${code})`);
}

/** Returns the first sample of each operation for the shell, by operationId. */
export const firstSamples = (samples) =>
  Object.fromEntries(Object.entries(samples).map(([id, [first]]) => [id, first.samples.curl]));
