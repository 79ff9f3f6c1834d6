// Makes the documentation site in generated/site/ from docs/site/, the contract and CHANGELOG.md. Each page exists as HTML and as
// Markdown. src/platform/http/documents/ serves the files.
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bounds } from '../additions/bounds.js';
import type { Diagnoses } from '../additions/diagnoses.js';
import type { Errors } from '../additions/errors.js';
import { readYaml } from '../document/bundle.js';
import type { Contract, Operation } from '../document/openapi.js';
import { codeSamples, courierSamples, toCodeSamples, type Samples } from '../samples/code-samples.js';
import { buildPostmanCollection } from '../samples/postman/collection.js';
import { changelogFeed } from './feed.js';
import { userGuides } from './guide.js';
import { fillIncludes, includeSources, withoutFileLinks } from './includes.js';
import { pageHtml, referenceHtml, urlOf, type Group, type Page, type Site } from './layout.js';
import { publishedMarkdown, renderPage } from './markdown.js';
import { llmsFullText, llmsText } from './llms.js';
import {
  operationGroups,
  referenceMarkdown,
  type OperationGroup,
  type OperationPage,
} from './reference/reference.js';
import { searchIndex } from './search.js';
import { mapValues } from '../document/records.js';

/** The published contract with its error catalogue, its bounds and the diagnoses of checks, and the folders. */
type Input = {
  root: string;
  out: string;
  bundle: Contract;
  errors: Errors;
  bounds: Bounds;
  diagnoses: Diagnoses;
};

export async function buildSite({ root, out, bundle, errors, bounds, diagnoses }: Input): Promise<void> {
  const source = join(root, 'docs', 'site');
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8');
  const samples = codeSamples(bundle);
  const include = {
    ...(await includeSources(root)),
    bundle,
    errors,
    bounds,
    diagnoses,
    changelog,
    calls: courierSamples(bundle),
  };
  const pages = new Map<string, Page>();
  for (const file of (await readdir(join(source, 'pages'))).sort()) {
    const text = await fillIncludes(await readFile(join(source, 'pages', file), 'utf8'), include);
    const name = file.replace(/\.md$/, '');
    pages.set(name, { name, text, ...renderPage(text) });
  }
  const operations = operationGroups(bundle, samples).map(withRenderedPages);
  const reference = referencePage(bundle, operations);
  const site = siteOf(await readYaml<Navigation>(root, 'docs/site/navigation.yaml'), pages);
  const index = withCards(site, pages.get('index'));
  const forUsers = await userGuides(root);

  const target = join(out, 'site');
  await rm(target, { recursive: true, force: true });
  for (const folder of ['reference', 'guide', 'es/guide'])
    await mkdir(join(target, folder), { recursive: true });
  const write = (name: string, text: string) => writeFile(join(target, name), text);
  const guides = [index, ...site.groups.flatMap((group) => group.pages)];
  const listed = operations.flatMap((group) => group.pages);
  const writePages = (shown: Site, list: Page[]) =>
    list.flatMap((page) => [
      write(`${page.name}.html`, pageHtml(shown, page)),
      write(`${page.name}.md`, publishedMarkdown(page.text)),
    ]);
  await Promise.all([
    ...writePages(site, guides),
    // The navigation of an operation has the operations of its group.
    ...operations.flatMap((group) => writePages({ groups: [group] }, group.pages)),
    // The user guide has its own navigation in each language.
    ...forUsers.flatMap((group) => writePages({ groups: [group] }, group.pages)),
    write('reference.html', referenceHtml(reference)),
    write('reference.md', reference.text),
    write('postman.json', `${JSON.stringify(buildPostmanCollection(bundle), null, 1)}\n`),
    writeFile(
      join(out, 'reference.json'),
      `${JSON.stringify(referenceDocument(bundle, samples), null, 1)}\n`,
    ),
    write(
      'llms.txt',
      llmsText(bundle, { groups: [...site.groups, ...forUsers], operations }, index, reference, samples),
    ),
    write(
      'search.json',
      searchIndex([...guides.slice(1), ...forUsers.flatMap((group) => group.pages)], listed),
    ),
    write('changelog.atom', changelogFeed(withoutFileLinks(changelog))),
    write('llms-full.txt', llmsFullText({ groups: [...site.groups, ...forUsers] }, index, reference)),
  ]);
}

const withRenderedPages = (group: OperationGroup): OperationGroup<Page & OperationPage> => ({
  ...group,
  pages: group.pages.map((page) => ({ ...page, ...renderPage(page.text) })),
});

/**
 * Returns the document of the reference: the contract with samples in several languages. The instance is its only server,
 * because the content security policy allows the reference to call no other.
 */
function referenceDocument(bundle: Contract, samples: Samples): unknown {
  const withSamples = (operation: Operation) => {
    const requests = samples[operation.operationId];
    return requests ? { ...operation, 'x-codeSamples': toCodeSamples(requests) } : operation;
  };
  const paths = mapValues(bundle.paths, (item) => mapValues(item, withSamples));
  return { ...bundle, servers: [{ url: '/', description: 'This instance' }], paths };
}

function referencePage(bundle: Contract, operations: OperationGroup[]) {
  const text = referenceMarkdown(bundle, operations);
  const { title, summary } = renderPage(text);
  return { name: 'reference', title, summary, text };
}

/** Returns the groups of the navigation with their pages. @throws if a page is missing or in no group */
type Navigation = Group<string>[];

function siteOf(navigation: Navigation, pages: Map<string, Page>): Site {
  const left = new Set(pages.keys());
  left.delete('index');
  const groups = navigation.map(({ title, pages: names }) => ({
    title,
    pages: names.map((name) => {
      const page = pages.get(name);
      if (!page || !left.delete(name))
        throw new Error(`navigation.yaml: there is no page ${name}, or it is named twice.`);
      return page;
    }),
  }));
  if (left.size > 0) throw new Error(`navigation.yaml does not name ${[...left].join(', ')}.`);
  return { groups };
}

/** Adds the list of all pages to the start page. */
function withCards({ groups }: Site, page: Page | undefined): Page {
  if (!page) throw new Error('docs/site/pages has no index.md.');
  const lists = groups.map(({ title, pages }) => {
    const items = pages.map((each) => `- [${each.title}](${urlOf(each)}) ${each.summary}`);
    return `## ${title}\n\n${items.join('\n')}`;
  });
  const text = `${page.text.trimEnd()}\n\n${lists.join('\n\n')}\n`;
  return { ...page, ...renderPage(text), text, headings: [] };
}
