/** Campaigns that take minutes run only in `npm run test:long`. */
const CAMPAIGNS = '<rootDir>/test/long/';

/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/test/support/jest/shared-environment.cjs',
  runtime: '<rootDir>/test/support/jest/shared-runtime.cjs',
  setupFilesAfterEnv: ['<rootDir>/test/support/jest/require-assertions.cjs'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }] },
  extensionsToTreatAsEsm: ['.ts'],
  // sources import each other by the name they have when built
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testPathIgnorePatterns: process.env.TEST_LONG === '1' ? [] : [CAMPAIGNS],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  globalSetup: '<rootDir>/test/support/service/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/service/global-teardown.mjs',
  reporters: [
    'default',
    '<rootDir>/test/support/jest/progress-reporter.mjs',
    '<rootDir>/test/support/service/coverage-reporter.mjs',
  ],
  testSequencer: '<rootDir>/test/support/jest/sequencer.cjs',
  testTimeout: 90_000,
  // Two more than the cores of continuous integration: two compute while two wait.
  maxWorkers: 4,
  // A worker that is restarted loads everything again; one of 3 GB spends its time on garbage collection.
  workerIdleMemoryLimit: '1.5GB',
};
