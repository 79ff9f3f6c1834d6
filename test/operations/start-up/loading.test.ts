import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';

// What a process loads before it serves decides how fast it starts (decision 0044).

const IMPORTED = /(?:^|\n)(?:import|export)\b[^;'"]*["'](\.[^"']+)["'];/g;
/** The bundler precedes each file of a package with its path. */
const PACKAGE = /^ *\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm;

/** Returns the packages in a bundle and in what it imports statically. */
function packagesOf(path: string): Set<string> {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, name = ''] of text.matchAll(PACKAGE)) packages.add(name);
    for (const [, other = ''] of text.matchAll(IMPORTED)) visit(join(dirname(file), other));
  };
  visit(join(projectRoot, 'dist', path));
  return packages;
}

/** Returns the chunk that a bundle loads later. */
function loadedBy(path: string, name: string): string {
  const text = readFileSync(join(projectRoot, 'dist', path), 'utf8');
  const [, chunk = ''] = new RegExp(`import\\("[./]*/(?:chunks/)?(${name}-\\w+\\.js)"\\)`).exec(text) ?? [];
  return `chunks/${chunk}`;
}

describe('the bundle of the service', () => {
  const serve = loadedBy('src/main.js', 'serve');

  test('prepares the database before it loads the server and Prisma', () => {
    expect(packagesOf('src/main.js')).toContain('pg');
    for (const name of ['fastify', '@prisma/client', 'ajv', 'undici'])
      expect(packagesOf('src/main.js')).not.toContain(name);
  });

  test('serves requests before it loads the worker and the readers of workbooks', () => {
    expect(packagesOf(serve)).toContain('fastify');
    for (const name of ['undici', 'nodemailer', 'yauzl', 'saxes', 'numfmt'])
      expect(packagesOf(serve)).not.toContain(name);
    expect(packagesOf(loadedBy(serve, 'background'))).toContain('undici');
  });
});
