import { readFile, readdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { extname, join } from 'node:path';
import { parse } from 'yaml';
import { changesFor } from './changelog.mjs';
import { limitTable, quotaTable, requestTable } from '../bounds.mjs';
import { fill } from '../errors.mjs';
import { operationTables, otherLanguages } from './operation-includes.mjs';
import { retryRow, retrySections } from './retries.mjs';

/** Returns what the includes need of files that are not generated. */
export async function includeSources(root) {
  return {
    samples: join(root, 'docs', 'site', 'samples'),
    sdk: join(root, 'sdk'),
    retries: parse(await readFile(join(root, 'sdk', 'retries.yaml'), 'utf8')),
  };
}

/** Replaces each line `{{name argument}}` by the part that the function of this name returns. */
export async function fillIncludes(text, sources) {
  const found = [...text.matchAll(/^\{\{(\w+)(?: (.+))?\}\}$/gm)];
  const parts = await Promise.all(
    found.map(([line, name, argument]) => {
      if (!Object.hasOwn(INCLUDES, name)) throw new Error(`There is no include ${line}.`);
      return INCLUDES[name](sources, argument);
    }),
  );
  // A function, because a replacement text would interpret `$`.
  return found.reduce((whole, [line], index) => whole.replace(line, () => parts[index]), text);
}

const INCLUDES = {
  errors: ({ errors }) => errorSections(errors),
  quotas: ({ bounds }) => quotaTable(bounds),
  requests: ({ bounds }) => requestTable(bounds),
  limits: ({ bounds }) => limitTable(bounds, false),
  changelog: ({ changelog, bundle }, readers) => changelogText(changelog, bundle, readers),
  fields: ({ bundle }, name) => fieldTable(bundle, name),
  sample: ({ samples }, path) => codeOf(samples, path),
  /** The other languages of a request whose curl command the page shows. */
  languages: ({ calls }, argument) => otherLanguages(calls, ...argument.split(' ')),
  operations: ({ bundle }) => operationTables(bundle),
  retries: ({ retries }) => retrySections(retries),
  retryRow: ({ retries }) => retryRow(retries),
  sdks: ({ sdk }) => sdkSections(sdk),
  /** The same sample in several languages: a folder, and a file for each language. */
  async samples({ samples }, argument) {
    const [folder, ...files] = argument.split(' ');
    const blocks = files.map((file) => codeOf(samples, `${folder}/${file}`, LABELS[extname(file)]));
    return (await Promise.all(blocks)).join('\n\n');
  },
};

const LANGUAGES = {
  '.mjs': 'javascript',
  '.py': 'python',
  '.php': 'php',
  '.go': 'go',
  '.java': 'java',
  '.sh': 'sh',
  '.bash': 'bash',
  '.txt': 'text',
};
const LABELS = {
  '.mjs': 'JavaScript',
  '.py': 'Python',
  '.php': 'PHP',
  '.go': 'Go',
  '.java': 'Java',
  '.sh': 'curl',
};

async function codeOf(folder, path, label) {
  const code = await readFile(join(folder, path), 'utf8');
  return `\`\`\`${LANGUAGES[extname(path)]}${label ? ` tab=${label}` : ''}\n${code.trimEnd()}\n\`\`\``;
}

/** Returns a section per client library: the beginning of its README, and how to install it. */
async function sdkSections(folder) {
  const names = existsSync(folder) ? (await readdir(folder)).sort() : [];
  const files = names.map((name) => join(folder, name, 'README.md')).filter((file) => existsSync(file));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.map(sdkSection).join('\n\n');
}

function sdkSection(readme) {
  const [beginning, ...sections] = withoutFileLinks(readme).split(/^(?=## )/m);
  const shown = [beginning, ...sections.filter((section) => section.startsWith('## Install\n'))].join('');
  // One level lower. A `#` in code is not a heading.
  const parts = shown.split(/^(```[^]*?^```)$/m);
  return parts
    .map((part, index) => (index % 2 === 0 ? part.replace(/^#/gm, '##') : part))
    .join('')
    .trim();
}

const STATUS_TEXTS = {
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
function errorSections({ codes }) {
  const statuses = [...new Set(Object.values(codes).map(({ status }) => status))].sort();
  return statuses
    .map((status) => {
      const found = Object.entries(codes).filter(([, code]) => code.status === status);
      const sections = found.map(([name, code]) => errorSection(name, code));
      return `## ${status} ${STATUS_TEXTS[status]}\n\n${sections.join('\n\n')}`;
    })
    .join('\n\n');
}

function errorSection(name, { description, cause, cure, variants }) {
  const messages = Object.values(variants)
    .map(({ message, args }) => fill(message, args, name))
    .filter((message) => message !== '{problems}')
    .map((message) => `> ${message}`);
  return [`### \`${name}\``, description, `**Cause.** ${cause}`, `**Cure.** ${cure}`, ...messages].join(
    '\n\n',
  );
}

const changelogText = (text, { info }, readers) => withoutFileLinks(changesFor(text, info.version, readers));

/** Links to files of the repository become plain text, because the site does not have these files. */
export const withoutFileLinks = (text) => text.replace(/\[([^\]]+)\]\((?!https:|\/)[^)]*\)/g, '$1');

/** Returns a table of the fields of a schema of the contract. */
function fieldTable({ components }, name) {
  const schema = components.schemas[name];
  if (!schema) throw new Error(`The contract has no schema ${name}.`);
  const resolve = (node) =>
    node.$ref ? { ...components.schemas[node.$ref.split('/').at(-1)], ...node } : node;
  const rows = Object.entries(schema.properties).map(([field, written]) => {
    const { type, description = '' } = resolve(written);
    const cell = `${description} ${exampleOf(resolve(written))}`
      .replace(/\s+/g, ' ')
      .replaceAll('|', '\\|')
      .trim();
    return `| \`${field}\` | ${[type].flat().join(' or ')} | ${cell} |`;
  });
  return ['| Field | Type | Meaning |', '|---|---|---|', ...rows].join('\n');
}

const exampleOf = ({ const: constant, examples = [] }) => {
  const value = constant ?? examples[0];
  return value === undefined || value === '' ? '' : `Example: \`${value}\`.`;
};
