import { runScript } from '../src/commands/run/script.js';
import { chooseLanguages } from './languages.js';

// npm run sdk: builds the SDKs of all languages whose tools are installed, or of those that are named:
// npm run sdk -- ts php
await runScript(async (print) => {
  const failed: string[] = [];
  for (const language of chooseLanguages(process.argv.slice(2))) {
    const toolchain = await language.toolchain();
    if ('missing' in toolchain) {
      print(`${language.title.padEnd(11)} skipped: ${toolchain.missing}`);
      continue;
    }
    const startMs = performance.now();
    try {
      await language.build();
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      print(`${language.title.padEnd(11)} ok ${seconds} s (${toolchain.found})`);
    } catch (error) {
      print(`${language.title.padEnd(11)} FAILED\n${error instanceof Error ? error.message : String(error)}`);
      failed.push(language.title);
    }
  }
  if (failed.length > 0) throw new Error(`Not built: ${failed.join(', ')}.`);
});
