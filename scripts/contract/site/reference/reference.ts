// The reference as Markdown: a page per operation, and one page with all of them.
import type { Contract, Located } from '../../document/openapi.js';
import type { Samples } from '../../samples/code-samples.js';
import type { Group } from '../layout.js';
import { firstSamples, listOperations, operationText } from './operation.js';

/** The address is the method and the path. */
export type OperationPage = { name: string; address: string; text: string };
export type OperationGroup<Listed = OperationPage> = Group<Listed> & { description: string };

/** Returns a page for each operation and each request that we send, by the tags of the contract. */
export function operationGroups(bundle: Contract, samples: Samples): OperationGroup[] {
  const operations = listOperations(bundle);
  const curl = firstSamples(samples);
  return bundle.tags
    .map(({ name, description }) => ({
      title: name,
      description,
      pages: operations
        .filter(({ operation }) => operation.tags.includes(name))
        .map((each) => {
          const { operationId } = each.operation;
          const text = operationText(bundle, each, curl[operationId]);
          return { name: `reference/${operationId}`, address: addressOf(each), text };
        }),
    }))
    .filter(({ pages }) => pages.length > 0);
}

const addressOf = ({ path, method }: Located) =>
  path.startsWith('/') ? `${method.toUpperCase()} ${path}` : 'A request that we send to you';

/** Returns the whole reference: the description of the contract, then every operation by tag. */
export function referenceMarkdown({ info }: Contract, groups: OperationGroup[]): string {
  const sections = groups.map(({ title, description, pages }) => {
    const texts = pages.map(({ text }) => lowered(text).trim());
    return `## ${title}\n\n${description}\n\n${texts.join('\n\n')}`;
  });
  return `# API reference

Every operation of the API with its fields. Each has a page of its own too, /docs/reference/ and its name.

${info.description.trim()}

${sections.join('\n\n')}
`;
}

/** Returns the text with its headings two levels lower, and without the links of codes. A `#` in code is not a heading. */
function lowered(text: string): string {
  const plain = text.replace(/\[(`\w+`)\]\(\/docs\/errors#\w+\)/g, '$1');
  const parts = plain.split(/^(```[^]*?^```)$/m);
  return parts.map((part, index) => (index % 2 === 0 ? part.replace(/^#/gm, '###') : part)).join('');
}
