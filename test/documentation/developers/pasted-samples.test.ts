import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PLACEHOLDERS } from '../../../scripts/contract/samples/code-samples.js';
import { serverUrl } from '../../../scripts/contract/samples/sample-requests.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { bundle } from '../../support/service/contract.js';
import { startService, type Service } from '../../support/service/service.js';

// The programs in descriptions of the contract and in pages, exactly as a reader pastes them. Only the host, the token and the key differ.
const run = promisify(execFile);

let service: Service;
let folder: string;

beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), 'crossdock-pasted-'));
  const body = { tracking_number: 'PASTED-1', weight: 1, user_code: 'IEX-1001' };
  await service.call('receivePackage', { as: 'warehouse', body });
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

type Pasted = { place: string; language: string; code: string };

/** Returns the programs of a text. A call of the function that retries is pasted after the function. */
function programsOf(place: string, text: string): Pasted[] {
  const found: Pasted[] = [];
  const functions: Record<string, string> = {};
  for (const { 1: language = '', 2: code = '', index } of text.matchAll(
    /^```(php|python|javascript)(?: tab=\w+)?\n([^]*?)^```$/gm,
  )) {
    const before = functions[language];
    if (!/send_?safely/i.test(code)) found.push({ place, language, code });
    else if (before === undefined) functions[language] = code;
    else {
      if (!text.slice(0, index).includes('Paste the function')) throw new Error(`${place} calls a function.`);
      found.push({ place, language, code: `${before}\n${code}` });
    }
  }
  return found;
}

/** Returns every description of the contract with its place. */
function descriptionsIn(node: unknown, place: string): [place: string, text: string][] {
  if (typeof node !== 'object' || node === null) return [];
  // A description is a text; everything else is another part of the document.
  const { operationId = place, description } = node as { operationId?: string; description?: unknown };
  const own: [string, string][] =
    typeof description === 'string' ? [[`${place}: ${operationId}`, description]] : [];
  return [...own, ...Object.values(node).flatMap((child) => descriptionsIn(child, operationId))];
}

/** What each program of the contract prints, and who runs it. */
const EXPECTED: Record<string, { as?: string; prints: RegExp; writes?: RegExp }> = {
  // The function that verifies a webhook prints nothing.
  'info: info': { prints: /^(201 .+\n)?$/ },
  login: { prints: /^Logged in as \S.+\n$/ },
  submitPrealert: { prints: /^[\da-f-]{36}\n$/ },
  submitPrealertWithoutSuffix: { prints: /^[\da-f-]{36}\n$/ },
  listEvents: { as: 'iex', prints: /^1 package\.created [\da-f-]{36}\n/, writes: /^last-event\.txt$/ },
  listPackages: { as: 'iex', prints: /^PASTED-1 1 lb\n/ },
  downloadCourierBill: { as: 'iex', prints: /^$/, writes: /\.pdf$/ },
  manageBillingRun: { as: 'manager', prints: /^All drafts of \d{4}-\d\d are published\.\n$/ },
  verifyAuditLog: { as: 'admin', prints: /^$/, writes: /^head-of-the-audit-log\.txt$/ },
};

const inContract = descriptionsIn(bundle, 'info').flatMap(([place, text]) => programsOf(place, text));
const expectationOf = (place: string) =>
  EXPECTED[place] ?? EXPECTED[place.split(': ').at(-1) ?? ''] ?? undefined;

const COMMANDS: Record<string, [program: string, extension: string, ...options: string[]]> = {
  php: ['php', 'php', '-d', 'error_reporting=-1', '-d', 'display_errors=1'],
  python: ['python3', 'py', '-B'],
  javascript: [process.execPath, 'mjs'],
};

async function paste({ language, code }: Pasted, token: string, place: string): Promise<string> {
  const [program = '', extension = '', ...options] = COMMANDS[language] ?? [];
  const text = code
    .replaceAll(serverUrl(bundle), service.url)
    .replaceAll(PLACEHOLDERS.token, token)
    .replaceAll(PLACEHOLDERS.key, DEMO.apiKeys.IEX);
  const file = join(place, `pasted.${extension}`);
  await writeFile(file, language === 'php' && !text.startsWith('<?php') ? `<?php\n${text}` : text);
  const { stdout, stderr } = await run(program, [...options, file], { cwd: place });
  return stderr + stdout;
}

const places = [...new Set(inContract.map(({ place }) => place))];

test('every program of the contract is tried', () => {
  expect(places.filter((place) => !expectationOf(place))).toEqual([]);
  const named = Object.keys(EXPECTED).filter((name) => places.some((place) => place.endsWith(name)));
  expect(named).toEqual(Object.keys(EXPECTED));
  expect(inContract.filter(({ language }) => language !== 'php')).toEqual([]);
});

const withPhp = (findProgram('php') ? test : test.skip).each(
  inContract.map((pasted, index) => [pasted.place, index, pasted] as const),
);

withPhp(
  titleWith('the program of %s works (block %i)', findProgram('php') ? [] : ['php']),
  async (...given) => {
    const [place, , pasted] = given;
    const { as, prints, writes } = expectationOf(place) ?? { prints: /^never$/ };
    const own = await mkdtemp(join(folder, 'program-'));
    expect(await paste(pasted, as ? await service.freshTokenOf(as) : '', own)).toMatch(prints);
    const files = (await readdir(own)).filter((name) => !name.startsWith('pasted.'));
    expect(files.filter((name) => !writes?.test(name))).toEqual([]);
    expect(files.length > 0).toBe(writes !== undefined);
  },
);

(findProgram('php') ? test : test.skip)(
  'the program that reads events says that its cursor is above the newest one, and then begins again',
  async () => {
    const pasted = inContract.find(({ place }) => place.endsWith('listEvents'));
    if (!pasted) throw new Error('listEvents has no program.');
    const own = await mkdtemp(join(folder, 'program-'));
    const token = await service.freshTokenOf('iex');
    await writeFile(join(own, 'last-event.txt'), '9999');
    await expect(paste(pasted, token, own)).rejects.toThrow(/end with \d+, before 9999/);
    expect(await paste(pasted, token, own)).toMatch(/^1 package\.created /);
    expect(await paste(pasted, token, own)).toBe('');
  },
);

const PAGES = join(projectRoot, 'generated', 'site');

test.each(['php', 'python', 'javascript'])(
  'the call of the function that retries works on the page in %s',
  async (language) => {
    const text = await readFile(join(PAGES, 'idempotency.md'), 'utf8');
    const calls = programsOf('idempotency', text).filter((each) => each.language === language);
    expect(calls).toHaveLength(1);
    for (const call of calls)
      expect(await paste(call, '', await mkdtemp(join(folder, 'program-')))).toMatch(/^201 .+\n$/);
  },
);

test('no other page has a program of its own that nothing tries', async () => {
  const pages = join(projectRoot, 'docs/site/pages');
  const names = await readdir(pages);
  const texts = await Promise.all(names.map((name) => readFile(join(pages, name), 'utf8')));
  const found = names.filter((_, index) => /^```(php|python|javascript|go|java)/m.test(texts[index] ?? ''));
  expect(found).toEqual(['idempotency.md']);
});
