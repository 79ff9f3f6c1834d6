import { readFile, readdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { extname, join } from 'node:path';
import { changesFor, type Readers } from './changelog.js';
import { limitTable, quotaTable, requestTable, type Bounds } from '../additions/bounds.js';
import { diagnosisSections, type Diagnoses } from '../additions/diagnoses.js';
import { fill, type ErrorCode, type Errors } from '../additions/errors.js';
import { readYaml } from '../document/bundle.js';
import { nameOfRef, type Contract, type Schema } from '../document/openapi.js';
import type { Samples } from '../samples/code-samples.js';
import { operationTables, otherLanguages } from './operation-includes.js';
import { retryRow, retrySections, type Retries } from './retries.js';

/** What every include has: folders, and files that are not generated. */
type FileSources = { samples: string; sdk: string; retries: Retries };
/** What the includes of pages have besides. */
export type PageSources = FileSources & {
  bundle: Contract;
  errors: Errors;
  bounds: Bounds;
  diagnoses: Diagnoses;
  changelog: string;
  calls: Samples;
};

/** Returns what the includes need of files that are not generated. */
export const includeSources = async (root: string): Promise<FileSources> => ({
  samples: join(root, 'docs', 'site', 'samples'),
  sdk: join(root, 'sdk'),
  retries: await readYaml<Retries>(root, 'sdk/retries.yaml'),
});

/** Replaces each line `{{name argument}}` by the part that the function of this name returns. */
export async function fillIncludes(text: string, sources: FileSources | PageSources): Promise<string> {
  const found = [...text.matchAll(/^\{\{(\w+)(?: (.+))?\}\}$/gm)];
  const parts = await Promise.all(
    found.map(async ([line, name = '', argument = '']) => {
      const text = await partOf(name, argument, sources);
      if (text === undefined) throw new Error(`There is no include ${line}.`);
      return { line, text };
    }),
  );
  // A function, because a replacement text would interpret `$`.
  return parts.reduce((whole, part) => whole.replace(part.line, () => part.text), text);
}

async function partOf(name: string, argument: string, sources: FileSources | PageSources) {
  if (Object.hasOwn(FILE_INCLUDES, name)) return FILE_INCLUDES[name]?.(sources, argument);
  return 'bundle' in sources ? PAGE_INCLUDES[name]?.(sources, argument) : undefined;
}

type Includes<Sources> = Record<string, (sources: Sources, argument: string) => string | Promise<string>>;

const PAGE_INCLUDES: Includes<PageSources> = {
  errors: ({ errors }) => errorSections(errors),
  diagnoses: ({ diagnoses }) => diagnosisSections(diagnoses),
  quotas: ({ bounds }) => quotaTable(bounds),
  requests: ({ bounds }) => requestTable(bounds),
  limits: ({ bounds }) => limitTable(bounds, false),
  // The pages name one of the two.
  changelog: ({ changelog, bundle }, readers) => changelogText(changelog, bundle, readers as Readers),
  fields: ({ bundle }, name) => fieldTable(bundle, name),
  /** The other languages of a request whose curl command the page shows. */
  languages({ calls }, argument) {
    const [operationId = '', name] = argument.split(' ');
    return otherLanguages(calls, operationId, name);
  },
  operations: ({ bundle }) => operationTables(bundle),
};

const FILE_INCLUDES: Includes<FileSources> = {
  sample: ({ samples }, path) => codeOf(samples, path),
  retries: ({ retries }) => retrySections(retries),
  retryRow: ({ retries }) => retryRow(retries),
  sdks: ({ sdk }) => sdkSections(sdk),
  /** The same sample in several languages: a folder, and a file for each language. */
  async samples({ samples }, argument) {
    const [folder = '', ...files] = argument.split(' ');
    const blocks = files.map((file) => codeOf(samples, `${folder}/${file}`, LABELS[extname(file)]));
    return (await Promise.all(blocks)).join('\n\n');
  },
};

const LANGUAGES: Record<string, string> = {
  '.mjs': 'javascript',
  '.py': 'python',
  '.php': 'php',
  '.go': 'go',
  '.java': 'java',
  '.sh': 'sh',
  '.bash': 'bash',
  '.txt': 'text',
};
const LABELS: Record<string, string> = {
  '.mjs': 'JavaScript',
  '.py': 'Python',
  '.php': 'PHP',
  '.go': 'Go',
  '.java': 'Java',
  '.sh': 'curl',
};

async function codeOf(folder: string, path: string, label?: string): Promise<string> {
  const code = await readFile(join(folder, path), 'utf8');
  return `\`\`\`${LANGUAGES[extname(path)]}${label ? ` tab=${label}` : ''}\n${code.trimEnd()}\n\`\`\``;
}

/** The sections of a README that a partner of the service reads first. */
const SDK_SECTIONS = new Set([
  'Install',
  'Many pre-alerts',
  'Webhooks',
  'Logs',
  'Errors',
  'Errors and repetitions',
]);

/** Returns a section per client library: of its README the beginning, and how to install, announce many, receive and handle errors. */
async function sdkSections(folder: string): Promise<string> {
  const names = existsSync(folder) ? (await readdir(folder)).sort() : [];
  const files = names.map((name) => join(folder, name, 'README.md')).filter((file) => existsSync(file));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.map(sdkSection).join('\n\n');
}

function sdkSection(readme: string): string {
  const [beginning = '', ...sections] = withoutFileLinks(readme).split(/^(?=## )/m);
  const isShown = (section: string) => SDK_SECTIONS.has(/^## (.+)/.exec(section)?.[1] ?? '');
  const shown = [beginning, ...sections.filter(isShown)].join('');
  // One level lower. A `#` in code is not a heading.
  const parts = shown.split(/^(```[^]*?^```)$/m);
  return parts
    .map((part, index) => (index % 2 === 0 ? part.replace(/^#/gm, '##') : part))
    .join('')
    .trim();
}

const STATUS_TEXTS: Record<number, string> = {
  400: 'Bad request',
  401: 'Not authenticated',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not supported',
  408: 'Too slow',
  409: 'Conflict',
  413: 'Too large',
  415: 'Wrong media type',
  422: 'Login without user name or password',
  429: 'Too many',
  431: 'Headers too large',
  500: 'Our fault',
  503: 'Try again later',
};

/** Returns a section per HTTP status, and in it a section per code with its cause, its cure and its messages. */
function errorSections({ codes }: Errors): string {
  const statuses = [...new Set(Object.values(codes).map(({ status }) => status))].sort();
  return statuses
    .map((status) => {
      const found = Object.entries(codes).filter(([, code]) => code.status === status);
      const sections = found.map(([name, code]) => errorSection(name, code));
      return `## ${status} ${STATUS_TEXTS[status]}\n\n${sections.join('\n\n')}`;
    })
    .join('\n\n');
}

function errorSection(name: string, { description, cause, cure, variants }: ErrorCode): string {
  const messages = Object.values(variants)
    .map(({ message, args }) => fill(message, args, name))
    .filter((message) => message !== '{problems}')
    .map((message) => `> ${message}`);
  return [`### \`${name}\``, description, `**Cause.** ${cause}`, `**Cure.** ${cure}`, ...messages].join(
    '\n\n',
  );
}

const changelogText = (text: string, { info }: Contract, readers: Readers) =>
  withoutFileLinks(changesFor(text, info.version, readers));

/** Links to files of the repository become plain text, because the site does not have these files. */
export const withoutFileLinks = (text: string): string =>
  text.replace(/\[([^\]]+)\]\((?!https:|\/)[^)]*\)/g, '$1');

/** Returns a table of the fields of a schema of the contract. */
function fieldTable({ components }: Contract, name: string): string {
  const schema = components.schemas[name];
  if (!schema) throw new Error(`The contract has no schema ${name}.`);
  const resolve = (node: Schema): Schema =>
    node.$ref ? { ...components.schemas[nameOfRef(node.$ref)], ...node } : node;
  const rows = Object.entries(schema.properties ?? {}).map(([field, written]) => {
    const { type, description = '' } = resolve(written);
    const cell = `${description} ${exampleOf(resolve(written))}`
      .replace(/\s+/g, ' ')
      .replaceAll('|', '\\|')
      .trim();
    return `| \`${field}\` | ${[type].flat().join(' or ')} | ${cell} |`;
  });
  return ['| Field | Type | Meaning |', '|---|---|---|', ...rows].join('\n');
}

const exampleOf = ({ const: constant, examples = [] }: Schema) => {
  // Each example of a field in a table is a text or a number.
  const value = (constant ?? examples[0]) as string | number | undefined;
  return value === undefined || value === '' ? '' : `Example: \`${value}\`.`;
};
