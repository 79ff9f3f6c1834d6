// The two files for language models (llmstxt.org): an index, and everything in one file.
import { jsonOf, resolve, type Contract } from '../document/openapi.js';
import type { Samples } from '../samples/code-samples.js';
import { serverUrl } from '../samples/sample-requests.js';
import { listOperations } from './reference/operation.js';
import { fieldTables } from './reference/fields.js';
import { urlOf, type Group, type Page } from './layout.js';
import type { OperationPage } from './reference/reference.js';
import { publishedMarkdown } from './markdown.js';

/** The operation that most integrators call first. */
const FIRST = 'submitPrealert';

type Listed = Pick<Page, 'name' | 'title' | 'summary' | 'text'>;
type ListedOperation = Page & OperationPage;

/**
 * Returns the index: what the first call needs, then every page and every operation.
 */
export function llmsText(
  bundle: Contract,
  { groups, operations }: { groups: Group[]; operations: Group<ListedOperation>[] },
  index: Page,
  reference: Listed,
  samples: Samples,
): string {
  const line = (page: Listed) => `- [${page.title}](${urlOf(page, 'md')}): ${page.summary}`;
  const guides = groups.map(({ title, pages }) => `## ${title}\n\n${pages.map(line).join('\n')}`);
  const listed = operations.flatMap(({ pages }) => pages);
  const operationLines = listed.map((page) => `- [${page.title}](${urlOf(page, 'md')}): ${page.address}`);
  return `# Crossdock

> ${index.summary}

${firstCall(bundle, samples)}

${guides.join('\n\n')}

## Reference

${line(reference)}
- [Everything in one file](/llms-full.txt): all pages and the whole reference.
- [OpenAPI document](/openapi.yaml): every operation, field, limit and failure.
- [OpenAPI document for code generators](/openapi.sdk.json): one operation per task with one media type.

## Operations

${operationLines.join('\n')}
`;
}

function firstCall(bundle: Contract, samples: Samples): string {
  const found = listOperations(bundle).find(({ operation: { operationId } }) => operationId === FIRST);
  const json = found?.operation.requestBody && jsonOf(resolve(bundle, found.operation.requestBody));
  const sample = samples[FIRST]?.[0];
  if (!found || !json || !sample) throw new Error(`The contract has no operation ${FIRST} with a JSON body.`);
  const { path, method } = found;
  return `## The first call

- Host: ${serverUrl(bundle)}. Each warehouse has its own. Keys, users and tokens belong to one host.
- Announce a parcel: \`${method.toUpperCase()} ${path}\` with the headers \`X-API-KEY: <key>\`, \`Content-Type: application/json\` and \`Idempotency-Key: <a new UUID per attempted change>\`.
- Read anything, for example packages: log in with \`POST /api/login.php\` and \`{"action":"login","username":"…","password":"…"}\`. Send \`data.access_token\` of the response in the header \`Authorization: Bearer <token>\`, for 8 hours.
- Success is \`{"status":"success","message":…,"data":…}\`. A failure has \`code\`, which is stable, and \`message\`. [Errors](/docs/errors.md) has the cure of each code.

The fields of a pre-alert:

${fieldTables(bundle, json.schema)}

\`\`\`sh
${sample.samples.curl}
\`\`\``;
}

/** Returns all pages and the reference, one after another. */
export function llmsFullText({ groups }: { groups: Group[] }, index: Listed, reference: Listed): string {
  const pages = [index, ...groups.flatMap(({ pages: each }) => each), reference];
  return pages
    .map(({ text }) => publishedMarkdown(text).trim())
    .join('\n\n---\n\n')
    .concat('\n');
}
