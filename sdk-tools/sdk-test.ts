import { runScript } from '../src/commands/run/script.js';
import type { Language } from './language.js';
import { runPacked } from './packed/packed.js';
import { PACKED_STEPS } from './packed/steps.js';
import { chooseLanguages } from './languages.js';
import { runScenario, type Result } from './scenario/scenario.js';
import { withService } from './service.js';
import { STEPS, type Step } from './scenario/steps.js';

type Row = {
  language: Language;
  /** Why nothing, or only the packed file, was not tried. */
  skipped?: string;
  result?: Result;
};

const ALL_STEPS = [...STEPS, ...PACKED_STEPS];

// npm run sdk:test: builds the SDKs and runs the scenario of twelve steps in each language, against a service with its own
// database. Then packs each, installs it into an empty project and uses it there. Prints a table. `npm run sdk:test -- ts php`
// runs only these languages.
await runScript(async (print) => {
  const languages = chooseLanguages(process.argv.slice(2));
  const rows: Row[] = [];
  await withService(async (url) => {
    for (const language of languages) rows.push(await runLanguage(language, url));
  });
  for (const line of table(rows)) print(line);
  for (const line of faults(rows)) print(line);
  const failed = rows.filter(({ result }) => result?.some((fault) => fault !== undefined));
  if (failed.length > 0)
    throw new Error(`Failed steps: ${failed.map(({ language }) => language.title).join(', ')}.`);
});

async function runLanguage(language: Language, url: string): Promise<Row> {
  const toolchain = await language.toolchain();
  if ('missing' in toolchain) return { language, skipped: toolchain.missing };
  try {
    await language.build();
    const scenario = await runScenario(language, url);
    const packed = await runPacked(language, url).catch(failedPacked);
    if ('missing' in packed) return { language, skipped: `packed: ${packed.missing}`, result: scenario };
    return { language, result: [...scenario, ...packed] };
  } catch (error) {
    return { language, result: notRun(ALL_STEPS, error) };
  }
}

function failedPacked(error: unknown): Result {
  return notRun(PACKED_STEPS, error);
}

function notRun(steps: Step[], error: unknown): Result {
  const fault = error instanceof Error ? error.message : String(error);
  return steps.map((_, index) => (index === 0 ? fault : 'not run'));
}

function table(rows: Row[]): string[] {
  const width = Math.max(...ALL_STEPS.map(({ title }) => title.length)) + 3;
  const head = `${'step'.padEnd(width)} ${rows.map(({ language }) => language.title.padEnd(11)).join('')}`;
  const body = ALL_STEPS.map(({ title }, index) => {
    const cells = rows.map(({ result }) =>
      !result || index >= result.length ? 'skipped' : result[index] === undefined ? 'ok' : 'FAILED',
    );
    const name = `${String(index + 1).padStart(2)} ${title}`;
    return `${name.padEnd(width)} ${cells.map((cell) => cell.padEnd(11)).join('')}`.trimEnd();
  });
  return [head.trimEnd(), ...body];
}

function faults(rows: Row[]): string[] {
  return rows.flatMap(({ language, skipped, result = [] }) => [
    ...(skipped ? [`${language.title} skipped: ${skipped}`] : []),
    ...result.flatMap((fault, index) => (fault ? [`${language.title}, step ${index + 1}: ${fault}`] : [])),
  ]);
}
