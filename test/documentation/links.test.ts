import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import GithubSlugger from 'github-slugger';
import MarkdownIt from 'markdown-it';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';

// Links in Markdown files lead to files and sections that exist, as hosts of repositories show them. The pages of /docs also link to
// paths of the service, which test/documentation/site.test.ts follows.

const markdown = new MarkdownIt();

/** Folders that installations, builds and runs write. */
const WRITTEN =
  /^(node_modules|dist|coverage|release|generated|\.\w+)$|^sdk\/\w+\/(?!src\b|test\b|tests\b|lib\b)/;

function filesIn(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(projectRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = relative(projectRoot, join(projectRoot, folder, entry.name));
    if (entry.isDirectory()) return WRITTEN.test(path) ? [] : filesIn(path, pattern);
    return pattern.test(path) ? [path] : [];
  });
}

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');

const tokensOf = (text: string) =>
  markdown.parse(text, {}).flatMap((token) => [token, ...(token.children ?? [])]);

const linksOf = (text: string): string[] =>
  tokensOf(text).flatMap((token) => {
    const link = token.attrGet('href') ?? token.attrGet('src');
    return link === null ? [] : [String(link)];
  });

function anchorsOf(text: string): Set<string> {
  const slugger = new GithubSlugger();
  const tokens = markdown.parse(text, {});
  const headings = tokens.flatMap((token, index) =>
    token.type === 'heading_open' ? [tokens[index + 1]?.children ?? []] : [],
  );
  const titles = headings.map((parts) => parts.map(({ content }) => content).join(''));
  return new Set(titles.map((title) => slugger.slug(title)));
}

const titlesOf = (text: string) => [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);

/** Files that the build of an SDK writes and its package contains. */
const BUILT = new Set(['sdk/php/generated/OPERATIONS.md']);

/** Returns what is wrong with a link in the file `from`, or undefined. */
function faultOf(from: string, link: string): string | undefined {
  if (/^([a-z]+:|\/)/.test(link)) return undefined;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : join(dirname(from), decodeURI(path));
  if (BUILT.has(target)) return undefined;
  if (!existsSync(join(projectRoot, target))) return `${from} links to ${link}: no such file`;
  if (anchor === undefined || !target.endsWith('.md') || statSync(join(projectRoot, target)).isDirectory())
    return undefined;
  return anchorsOf(read(target)).has(anchor) ? undefined : `${from} links to ${link}: no such section`;
}

const documents = filesIn('.', /\.md$/);

describe('links of documents', () => {
  test('lead to files and sections that exist', () => {
    const links = documents.flatMap((path) => linksOf(read(path)).map((link) => ({ path, link })));
    expect(links.length).toBeGreaterThan(200);
    expect(links.filter(({ link }) => link.includes('.md#')).length).toBeGreaterThan(20);
    expect(links.flatMap(({ path, link }) => faultOf(path, link) ?? [])).toEqual([]);
  });

  test.each([
    ['a file that does not exist', 'docs/nowhere.md'],
    ['a section that does not exist', 'docs/operations.md#nowhere'],
    ['a section of the same file that does not exist', '#nowhere'],
  ])('are refused if they lead to %s', (_what, link) => {
    expect(faultOf('README.md', link)).toContain(`README.md links to ${link}: no such`);
  });
});

const ANCHOR = /\b(docs\/[\w/-]+\.md)#([\w-]+)/g;
const TITLE = /"([^"\n]+)" in (docs\/[\w-]+\.md|[A-Z]+\.md)/g;
const TITLE_AFTER = /(docs\/[\w-]+\.md|[A-Z]+\.md), "([^"\n]+)"/g;

/** Returns the sections that a program or a setting names, and which of them do not exist. */
function namedSections(text: string): { named: string; isKnown: boolean }[] {
  const anchors = [...text.matchAll(ANCHOR)].map(([named, document = '', anchor = '']) => ({
    named,
    isKnown: existsSync(join(projectRoot, document)) && anchorsOf(read(document)).has(anchor),
  }));
  const titles = [
    ...[...text.matchAll(TITLE)].map(([named, title = '', document = '']) => ({ named, title, document })),
    ...[...text.matchAll(TITLE_AFTER)].map(([named, document = '', title = '']) => ({
      named,
      title,
      document,
    })),
  ].map(({ named, title, document }) => ({
    named,
    isKnown: existsSync(join(projectRoot, document)) && titlesOf(read(document)).includes(title),
  }));
  return [...anchors, ...titles];
}

describe('sections of documents that messages, comments and files of deploy/ name', () => {
  const sources = filesIn('.', /\.(ts|tsx|mjs|sh|ya?ml|env|conf|cfg|ini|sql|service|prisma)$/).filter(
    (path) => path !== 'test/documentation/links.test.ts',
  );

  test('exist', () => {
    const found = sources.flatMap((path) => namedSections(read(path)).map((each) => ({ path, ...each })));
    expect(found.length).toBeGreaterThan(2);
    expect(found.filter(({ isKnown }) => !isKnown).map(({ path, named }) => `${path}: ${named}`)).toEqual([]);
  });

  test.each([
    'docs/operations.md#nowhere',
    '"Nowhere" in docs/operations.md',
    'docs/operations.md, "Nowhere"',
    'CONTRIBUTING.md, "Nowhere"',
  ])('are missed if they do not exist: %s', (text) => {
    expect(namedSections(text)).toEqual([{ named: text, isKnown: false }]);
  });
});
