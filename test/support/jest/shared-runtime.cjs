// Loads each module once per jest worker, except test files and the modules beside them. jest loads all modules again for
// each test file: more than a second of CPU, after which everything runs unoptimised. src/ keeps no state between requests
// in its modules, and test/support/ keeps no state of a test file.
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { compileFunction } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

let shared;

/**
 * What jest-circus uses of AsyncLocalStorage: the test of an error that nobody catches. Node's own class makes every promise
 * of the process slower, four times with one instance and ninety times with sixty, and jest-circus creates one per test file.
 * Tests of a file run one after another, so a variable suffices.
 */
class SequentialStorage {
  getStore() {
    return this.store;
  }

  run(store, work) {
    const outer = this.store;
    const restore = () => (this.store = outer);
    this.store = store;
    return work().finally(restore);
  }
}

module.exports = class SharedRuntime extends Runtime {
  constructor(...args) {
    if (shared) {
      shared.begin(...args);
      // A constructor may return another object, and then nothing is constructed.
      return shared;
    }
    super(...args);
    shared = this;
    // Without a vm context, Node compiles for the global object of the process.
    this.esmLoader.getContext = () => undefined;
    const { coreModule, executor } = this;
    const requireCore = coreModule.require.bind(coreModule);
    coreModule.require = (name) =>
      name === 'node:async_hooks'
        ? { ...requireCore(name), AsyncLocalStorage: SequentialStorage }
        : requireCore(name);
    const compileInContext = executor.compile.bind(executor);
    // The compiled functions of CommonJS modules, which jest loads again for each test file: its own modules.
    const compiled = new Map();
    executor.compile = (source, filename) => {
      const known = compiled.get(filename);
      if (known?.source === source) return known.run;
      try {
        const run = compileFunction(source, executor.injectedModuleParameters, {
          filename,
          importModuleDynamically: (specifier, _function, attributes) =>
            executor.dynamicImport(specifier, filename, undefined, attributes),
        });
        compiled.set(filename, { source, run });
        return run;
      } catch {
        // Throws jest's own error, which makes jest load the file as an ES module if it is one.
        return compileInContext(source, filename);
      }
    };
  }

  /** Prepares for the next test file. All files have the same configuration, so only the path changes. */
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
    for (const key of registries.esModuleRegistry.keys()) {
      const isOfTestFile = key.startsWith(`${tests}/`) && !key.startsWith(`${tests}/support/`);
      if (isOfTestFile || key.startsWith('@jest/globals/')) registries.esModuleRegistry.delete(key);
    }
    registries.mockRegistry.clear();
    registries.moduleMockRegistry.clear();
    // This registry contains jest-circus and expect.
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
