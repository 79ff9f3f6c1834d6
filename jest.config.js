/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }] },
  extensionsToTreatAsEsm: ['.ts'],
  // sources import each other by the name they have when built
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  globalSetup: '<rootDir>/test/support/service/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/service/global-teardown.mjs',
  reporters: ['default', '<rootDir>/test/support/service/coverage-reporter.mjs'],
  testTimeout: 30_000,
  maxWorkers: 2,
  // a worker keeps what its files have loaded: at 3 GB it spends its time collecting
  workerIdleMemoryLimit: '1GB',
};
