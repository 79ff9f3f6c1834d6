import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { matching } from '../support/assertions/matching.js';
import { courierSamples, PLACEHOLDERS } from '../../scripts/contract/samples/code-samples.js';
import { serverUrl } from '../../scripts/contract/samples/sample-requests.js';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { rounds } from '../support/harness/effort.js';
import { LANGUAGES, missing, runSamples, type Language } from '../support/samples/languages.js';
import { bundle } from '../support/service/contract.js';
import { startService, type Service } from '../support/service/service.js';

// The guides show these in every language, for a courier.
const SHOWN: [operationId: string, example: string | undefined, status: number][] = [
  ['getCourierSettings', undefined, 200],
  ['listCustomers', undefined, 200],
  ['submitPrealert', 'minimal', 201],
  ['submitPrealert', 'lines', 200],
];
const samples = courierSamples(bundle);

const sampleOf = (operationId: string, example: string | undefined) => {
  const found = samples[operationId]?.find((each) => example === undefined || each.example === example);
  if (!found) throw new Error(`${operationId} has no sample ${example ?? ''}.`);
  return found.samples;
};

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('samples of guides name no courier, and those that create have an Idempotency-Key', () => {
  for (const [operationId, example] of SHOWN)
    for (const code of Object.values(sampleOf(operationId, example))) {
      expect(code).not.toMatch(matching(/[?&](courier_)?id=/, '?id=0193', '&courier_id=0193'));
      expect([operationId, code.includes('Idempotency-Key')]).toEqual([
        operationId,
        operationId === 'submitPrealert',
      ]);
    }
});

test('the guides show exactly these samples, besides the login', async () => {
  const pages = ['quick-start', 'bulk-prealerts'].map((name) =>
    readFile(join(projectRoot, 'docs/site/pages', `${name}.md`), 'utf8'),
  );
  const text = (await Promise.all(pages)).join('');
  const shown = [...text.matchAll(/^\{\{languages (\w+)(?: (\w+))?\}\}$/gm)].map(([, id, name]) => [
    id,
    name,
  ]);
  expect(shown).toEqual([['login', 'login'], ...SHOWN.map(([id, name]) => [id, name])]);
});

const languages = LANGUAGES.filter(({ id }) => id !== 'curl').slice(0, rounds(3, LANGUAGES.length));

describe.each(languages)('samples of guides in $id', (language: Language) => {
  const reason = missing(language);
  (reason ? test.skip : test)(
    `work for a courier${reason ? ` (skipped: ${reason})` : ''}`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), `courier-samples-${language.id}-`));
      try {
        const token = await service.tokenOf('iex');
        const sources = SHOWN.map(([operationId, example]) => {
          const { [language.id]: code } = sampleOf(operationId, example);
          return code
            .replaceAll(serverUrl(bundle), service.url)
            .replaceAll(PLACEHOLDERS.token, token)
            .replaceAll(PLACEHOLDERS.key, DEMO.apiKeys.IEX)
            .replaceAll(PLACEHOLDERS.idempotencyKey, randomUUID())
            .replaceAll(/\b1Z\w{16}/g, () => `TEST-${randomUUID()}`);
        });
        const outputs = await runSamples(language, folder, sources);
        expect(outputs.map((output) => [Number(/^\d+/.exec(output)?.[0]), output])).toEqual(
          SHOWN.map(([, , status], index) => [status, outputs[index]]),
        );
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    300_000,
  );
});
