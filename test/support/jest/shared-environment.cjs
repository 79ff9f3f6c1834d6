// Runs all test files of a jest worker with the global object of the worker's own Node process. jest gives each test file
// a vm context, where each use of a global name (Object, Promise, Error) calls a proxy. That takes 0.4 microseconds instead
// of almost none: a quarter of the CPU time of ordinary test files. shared-runtime.cjs loads modules accordingly.
const process = require('node:process');
const { TestEnvironment } = require('jest-environment-node');

/** A time limit ends a test that hangs. It is written for a quiet machine, and continuous integration may run on a busy one. */
const ALLOWANCE = 3;

let shared;

module.exports = class SharedEnvironment extends TestEnvironment {
  constructor(...args) {
    // A constructor may return another object, and then nothing is constructed.
    if (shared) return shared;
    super(...args);
    shared = this;
    this.global = globalThis;
    this.atStart = {
      env: { ...process.env },
      exit: process.exit,
      console: globalThis.console,
      symbols: Object.getOwnPropertySymbols(globalThis),
    };
    this.extended = new WeakSet();
  }

  /** Called by jest-circus before it reads the time limit of a test or hook. */
  handleTestEvent({ name, test, hook }) {
    if (name === 'test_fn_start') this.extend(test);
    if (name === 'hook_start') this.extend(hook);
  }

  /** Those without a limit of their own have that of jest.config.mjs. */
  extend(called) {
    if (!called.timeout || this.extended.has(called)) return;
    this.extended.add(called);
    called.timeout *= ALLOWANCE;
  }

  /** Restores what a test file may have changed. The global object itself stays. */
  async teardown() {
    const { env, exit, console, symbols } = this.atStart;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.exit = exit;
    globalThis.console = console;
    // jest-circus keeps its event handlers and all tests of a file, with everything they refer to, under symbols.
    for (const symbol of Object.getOwnPropertySymbols(globalThis))
      if (!symbols.includes(symbol)) Reflect.deleteProperty(globalThis, symbol);
  }
};
