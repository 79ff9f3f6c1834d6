import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { packageVersion, projectRoot } from '../../src/config/project-root.js';

// The contract states the version. npm, Helm and the package managers of the SDKs each need a copy in their own file.

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
const { info } = parse(read('openapi/openapi.yaml')) as { info: { version: string } };

const COPIES: [path: string, pattern: RegExp][] = [
  ['package.json', /^ {2}"version": "(.+)"/m],
  ['package-lock.json', /^ {2}"version": "(.+)"/m],
  ['package-lock.json', /^ {4}"": \{\s*"name": "crossdock",\s*"version": "(.+)"/m],
  ['deploy/helm/crossdock/Chart.yaml', /^version: (.+)$/m],
  ['deploy/helm/crossdock/Chart.yaml', /^appVersion: (.+)$/m],
  ['sdk/java/pom.xml', /<artifactId>crossdock<\/artifactId>\s*<version>(.+)<\/version>/],
  ['sdk/java/README.md', /target\/crossdock-(.+)\.jar/],
  ['sdk/java/README.md', /example\.crossdock:crossdock:([\d.]+)`/],
  ['sdk/go/README.md', /crossdock@v(\S+)/],
  ['sdk/php/composer.json', /"version": "(.+)"/],
  ['sdk/python/pyproject.toml', /^version = "(.+)"/m],
  ['sdk/typescript/README.md', /crossdock-sdk-(.+)\.tgz/],
  ['sdk/typescript/package.json', /^ {2}"version": "(.+)"/m],
];

test.each(COPIES)('%s has the version of the contract: %p', (path, pattern) => {
  expect(pattern.exec(read(path))?.[1]).toBe(info.version);
});

test('the commands of docs/deploy.md name the files of this version', () => {
  const named = [...read('docs/deploy.md').matchAll(/crossdock[-:](\d+\.\d+\.\d+)|CROSSDOCK_VERSION=(\S+)/g)];
  // The example of an upgrade goes to the next version.
  const next = info.version.replace(/\.(\d+)\.\d+$/, (_, minor) => `.${Number(minor) + 1}.0`);
  expect(new Set(named.map(([, file, setting]) => file ?? setting))).toEqual(new Set([info.version, next]));
});

// Metrics, traces, the doctor and the record of deployments report this value; their own tests compare it.
test('the running service has it', () => {
  expect(packageVersion()).toBe(info.version);
});
