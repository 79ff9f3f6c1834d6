import { readCurrent, storeRelease } from './contract-diff/released.js';
import { runScript } from './script.js';

// npm run contract:release: stores generated/openapi.json as openapi/released/<info.version>.json.
await runScript(async (print) => {
  const version = await storeRelease(await readCurrent());
  print(
    `Stored openapi/released/${version}.json. Rename "Unreleased" in CHANGELOG.md to "${version}" and commit both.`,
  );
});
