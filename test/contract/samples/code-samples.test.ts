import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { codeSamples, PLACEHOLDERS, toCodeSamples } from '../../../scripts/contract/samples/code-samples.js';
import { serverUrl } from '../../../scripts/contract/samples/sample-requests.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { insertUsers } from '../../support/builders/users.js';
import { documentedCaller, isExpectedStatus } from '../../support/samples/documented-calls.js';
import { rounds } from '../../support/harness/effort.js';
import { sampleFiles } from '../../support/samples/files.js';
import { LANGUAGES, missing, runSamples, type Language } from '../../support/samples/languages.js';
import { bundle, bodyShapes, operationIds, operationOf } from '../../support/service/contract.js';
import { startService, type Service } from '../../support/service/service.js';

const samples = codeSamples(bundle);

/** The samples of all operations. Those that only read come first, because the others change the demo data. */
const calls = operationIds
  .flatMap((id) => (samples[id] ?? []).map((sample) => ({ id, ...sample })))
  .sort((a, b) => Number(writes(a.id)) - Number(writes(b.id)));

function writes(id: OperationId): boolean {
  return operationOf(id).method !== 'GET';
}

const samplesOf = (method: string, path: string) =>
  calls.filter(({ id }) => operationOf(id).method === method && operationOf(id).path === path);

test('every operation has samples, and every action has its own', () => {
  expect(Object.keys(samples).sort()).toEqual([...operationIds].sort());
  const shown = (id: string, action: string) =>
    (samples[id] ?? []).some((request) => request.samples.curl.includes(`"action": "${action}"`));
  const actions = bodyShapes().flatMap(({ id, action }) => (action === undefined ? [] : [{ id, action }]));
  expect(actions.filter(({ id, action }) => !shown(id, action))).toEqual([]);
});

test('x-codeSamples has five languages for each request', () => {
  const manifests = samplesOf('POST', '/api/ManageManifest.php');
  const [first, ...others] = toCodeSamples(manifests);
  expect(first).toEqual({ lang: 'Shell', label: 'curl: create_manifest', source: expect.any(String) });
  expect(others).toHaveLength(manifests.length * 5 - 1);
  const labels = toCodeSamples(samplesOf('GET', '/api/ManagePrealerts.php')).map(({ label }) => label);
  expect(labels).toEqual(['curl', 'PHP', 'Python', 'JavaScript', 'Go']);
});

// Go compiles for about a minute.
const languages = LANGUAGES.slice(0, rounds(2, LANGUAGES.length));

describe.each(languages)('samples in $id', (language) => {
  const reason = missing(language);
  const title = 'work on the demo data, and each has a status that its operation declares';
  (reason ? test.skip : test)(
    reason ? `${title} (skipped: ${reason})` : title,
    async () => {
      const service = await startService();
      await insertUsers(service.owner, 1);
      try {
        const outcomes = await runAll(service, language);
        expect(outcomes.filter(({ isExpected }) => !isExpected)).toEqual([]);
      } finally {
        await service.stop();
      }
    },
    300_000,
  );
});

async function runAll(service: Service, language: Language) {
  const folder = await mkdtemp(join(tmpdir(), `samples-${language.id}-`));
  try {
    for (const { name, file } of sampleFiles.values()) await writeFile(join(folder, name), file);
    const sources = await Promise.all(calls.map((call) => fill(service, call, language)));
    const outputs = await runSamples(language, folder, sources);
    return calls.map((call, n) => judge(call, language, outputs[n] ?? ''));
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Sampled = (typeof calls)[number];

/** Replaces what a reader replaces. */
async function fill(service: Service, { id, example, samples: all }: Sampled, { id: language }: Language) {
  const { as, key = '' } = documentedCaller(id, example);
  const token = as === undefined ? '' : await service.tokenOf(as);
  return all[language]
    .replaceAll(serverUrl(bundle), service.url)
    .replaceAll(PLACEHOLDERS.token, token)
    .replaceAll(PLACEHOLDERS.key, key);
}

function judge({ id, example }: Sampled, { id: language }: Language, output: string) {
  const lines = output.trim().split('\n');
  const status = Number(language === 'curl' ? lines.at(-1) : lines[0]);
  return {
    name: `${id} ${example}`,
    status,
    isExpected: isExpectedStatus(id, example, status),
    output: output.slice(0, 400),
  };
}
