import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Language } from '../../sdk-tools/language.js';
import { runPacked } from '../../sdk-tools/packed/packed.js';
import { PACKED_STEPS } from '../../sdk-tools/packed/steps.js';
import { php } from '../../sdk-tools/php/language.js';
import { typescript } from '../../sdk-tools/typescript/language.js';
import { startService, type Service } from '../support/service/service.js';

// What an integrator has of an SDK is its packed file. Python, Go and Java take minutes, so `npm run sdk:test` packs them.

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const LANGUAGES: Language[] = [typescript, php];

test.each(LANGUAGES)(
  '$title works from its packed file in an empty project: a call, a retry, a list, a webhook, the hook',
  async (language) => {
    const toolchain = await language.toolchain();
    if ('missing' in toolchain) return;
    await language.build();
    const result = await runPacked(language, service.url);
    // Without Composer there is nothing to install with.
    if ('missing' in result) return;
    const titled = PACKED_STEPS.map(({ title }, index) => [title, result[index]]);
    expect(titled.filter(([, fault]) => fault !== undefined)).toEqual([]);
  },
  180_000,
);
