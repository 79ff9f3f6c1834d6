import js from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'generated/',
      'node_modules/',
      '.data/',
      'coverage/',
      'release/',
      'sdk/*/dist/',
      'sdk/typescript/src/generated/',
      'sdk/typescript/consumer.ts',
      'test/sdk/generators/',
      'sdk/python/.venv/',
    ],
  },
  js.configs.recommended,
  {
    // Text from outside must not keep the event loop busy: each expression takes linear time.
    files: ['src/modules/**/*.ts', 'src/platform/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    ignores: ['prisma.config.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // noUncheckedIndexedAccess already checks missing keys.
      '@typescript-eslint/no-dynamic-delete': 'off',
      // noPropertyAccessFromIndexSignature requires process.env['NAME'].
      '@typescript-eslint/dot-notation': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // The code has no classes whose methods could lose `this`.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Check digits and messages join text and numbers. Lengths are counted in code points, by spreading a string.
      '@typescript-eslint/restrict-plus-operands': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // The type of handlers requires async functions, even those that do not await.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // Tests read responses and rows whose shape the contract validator or the assertion checks.
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/config/config.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/config/config.ts reads the environment.' },
        {
          object: 'AbortSignal',
          property: 'any',
          message: 'The garbage collector can remove its sources before they abort (Node issue 57736).',
        },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/platform/db/**', 'src/development/**', 'src/modules/tenants/**', 'src/startup/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: 'pg',
              message: 'Query through the request context (src/platform/context/request-context.ts).',
              allowTypeImports: true,
            },
          ],
          patterns: [
            {
              group: ['**/generated/prisma/*'],
              message: 'Query through the request context (src/platform/context/request-context.ts).',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.{js,mjs}', 'bin/crossdock'],
    languageOptions: {
      globals: {
        process: 'readonly',
        URL: 'readonly',
        structuredClone: 'readonly',
        globalThis: 'readonly',
        performance: 'readonly',
        Buffer: 'readonly',
        TextDecoder: 'readonly',
      },
    },
  },
  {
    // Scripts of browsers, and samples that readers run in a browser or in Node.
    files: ['docs/site/**/*.{js,mjs}'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          ...['document', 'location', 'localStorage', 'navigator', 'matchMedia', 'getSelection'],
          ...['scrollBy', 'addEventListener', 'requestAnimationFrame', 'MutationObserver', 'NodeFilter'],
          ...['CustomEvent', 'fetch', 'crypto', 'AbortSignal', 'setTimeout', 'Buffer', 'Scalar'],
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
);
