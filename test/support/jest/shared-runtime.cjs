// Loads the modules of src/, generated/ and node_modules/ once per jest worker. jest loads them again for each test file:
// more than a second of CPU, after which everything runs unoptimised. Test files and test/support/ are loaded for each
// test file, so that nothing of a test is left over. src/ keeps no state between requests in its modules.
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { default: Runtime } = require('jest-runtime');

let shared;

module.exports = class SharedRuntime extends Runtime {
  constructor(...args) {
    if (shared) {
      shared.begin(...args);
      // A constructor may return another object, and then nothing is constructed.
      return shared;
    }
    super(...args);
    shared = this;
  }

  /** For the next test file. All files have the same configuration, so only what names the file changes. */
  begin(_config, _environment, _resolver, _transformer, cacheFS, _coverage, testPath) {
    for (const [path, source] of cacheFS) this.fileCache.strings.set(path, source);
    this._testPath = testPath;
    this.esmLoader.testPath = testPath;
    this.executor.testPath = testPath;
    this.testState.state = 'loading';
  }

  teardown() {
    this.restoreAllMocks();
    const { registries, jestGlobals } = this;
    const tests = pathToFileURL(join(this._config.rootDir, 'test')).href;
    for (const key of registries.esModuleRegistry.keys())
      if (key.startsWith(`${tests}/`) || key.startsWith('@jest/globals/'))
        registries.esModuleRegistry.delete(key);
    registries.mockRegistry.clear();
    registries.moduleMockRegistry.clear();
    // jest-circus and expect
    registries.internalModuleRegistry.clear();
    this.mockState.clear();
    jestGlobals.clearJestObjectCache();
    jestGlobals.cachedEnvGlobals = undefined;
    this.loggedReferenceErrors.clear();
    this.testState.teardown();
  }
};
// jest takes the runtime from the default export.
module.exports.default = module.exports;
