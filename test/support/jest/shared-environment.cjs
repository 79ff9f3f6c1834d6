// One global object for all test files of a jest worker. shared-runtime.cjs keeps loaded modules, and a module belongs
// to the global object that it was loaded with.
const { TestEnvironment } = require('jest-environment-node');

// jest-circus adds its handlers to the ones that it finds.
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

let shared;

module.exports = class SharedEnvironment extends TestEnvironment {
  constructor(...args) {
    // A constructor may return another object, and then nothing is constructed.
    if (shared) return shared;
    super(...args);
    shared = this;
    this.processAtStart = { env: { ...this.global.process.env }, exit: this.global.process.exit };
  }

  /** Restores what a test file may have changed. The global object itself stays. */
  async teardown() {
    const { process } = this.global;
    this.fakeTimersModern.useRealTimers();
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, this.processAtStart.env);
    process.exit = this.processAtStart.exit;
    delete this.global[EVENT_HANDLERS];
  }
};
