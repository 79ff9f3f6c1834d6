import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the samples of sdk/typescript/README.md use without saying where it comes from. */
const SURROUNDINGS = `import type { CrossdockClient, CrossdockKeyClient, PrealertSubmission } from '@crossdock/sdk';
declare global {
  const client: CrossdockClient;
  const courier: CrossdockKeyClient;
  const prealert: PrealertSubmission;
  const prealerts: PrealertSubmission[];
  var lastSequence: number;
  const apiKey: string | undefined;
  const baseUrl: string | undefined;
  const username: string | undefined;
  const password: string | undefined;
  const signal: AbortSignal;
  const idempotencyKey: string;
  const rawBody: string;
  const request: Request;
}
`;

/** Writes each sample in JavaScript as a module in TypeScript, and returns the names of all files. */
export async function writeReadmeSamples(readme: string, folder: string): Promise<string[]> {
  const text = await readFile(readme, 'utf8');
  const samples = [...text.matchAll(/^```(?:js|ts)\n(.*?)^```/gms)].map(([, code = '']) => code);
  await writeFile(join(folder, 'surroundings.ts'), SURROUNDINGS);
  const names = samples.map((_, index) => `sample-${index + 1}.ts`);
  await Promise.all(
    samples.map((code, index) =>
      writeFile(join(folder, `sample-${index + 1}.ts`), `import './surroundings.js';\n${code}`),
    ),
  );
  return names;
}
