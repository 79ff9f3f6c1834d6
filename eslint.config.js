import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'generated/', 'node_modules/', '.data/', 'coverage/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    ignores: ['prisma.config.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // a map's missing key is told by noUncheckedIndexedAccess, not by a delete
      '@typescript-eslint/no-dynamic-delete': 'off',
      // process.env['NAME'] is what noPropertyAccessFromIndexSignature wants elsewhere
      '@typescript-eslint/dot-notation': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // no classes here, so no method loses its this
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // text and numbers are joined in check digits and messages; code points are what a number's length counts
      '@typescript-eslint/restrict-plus-operands': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // handlers are async by contract, whether or not this one waits
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // tests reach into replies and rows whose shape the contract check or the assertion itself judges
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
    files: ['**/*.{js,mjs}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        URL: 'readonly',
        structuredClone: 'readonly',
        globalThis: 'readonly',
        performance: 'readonly',
      },
    },
  },
);
