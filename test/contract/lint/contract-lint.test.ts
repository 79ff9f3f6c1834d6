import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { projectRoot } from '../../../src/config/project-root.js';

const operation = (operationId: string) => ({
  operationId,
  summary: 'A',
  description: 'A',
  responses: { '200': { description: 'A' }, '400': { description: 'A' } },
});

/** Returns the problems that the rules of the contract find, as `rule place`. */
function lint(document: object): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'crossdock-contract-lint-'));
  try {
    copyFileSync(join(projectRoot, 'redocly.yaml'), join(folder, 'redocly.yaml'));
    writeFileSync(join(folder, 'contract.yaml'), stringify(document));
    const program = join(projectRoot, 'node_modules/@redocly/cli/bin/cli.js');
    const run = spawnSync(process.execPath, [program, 'lint', 'contract.yaml', '--format', 'json'], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    // redocly documents this format.
    const { problems } = JSON.parse(run.stdout) as {
      problems: { ruleId: string; location: { pointer: string }[] }[];
    };
    return problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the lint of the contract refuses a path of another form, a name without a verb, and a text in angle brackets', () => {
  const problems = lint({
    openapi: '3.1.0',
    info: { title: 'A', version: '1', license: { name: 'A', url: 'https://example.com' } },
    servers: [{ url: 'https://example.org' }],
    security: [],
    tags: [{ name: 'A', description: '<What it is>' }],
    paths: {
      '/api/package-sums': { get: operation('packageSums') },
      '/api/Package/Sums': { get: operation('getSums') },
      '/api/Sums.php': { get: operation('listSums') },
    },
    // Events have names without a verb.
    webhooks: { packageCreated: { post: operation('packageCreated') } },
  });
  expect(problems.sort()).toEqual([
    'rule/operation-id-begins-with-verb #/paths/~1api~1package-sums/get/operationId',
    'rule/path-has-known-form #/paths/~1api~1package-sums',
    'rule/tag-is-described #/tags/0/description',
  ]);
}, 60_000);
