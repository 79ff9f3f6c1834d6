// Runs a TypeScript program from its build: node scripts/run.mjs <path without extension> [arguments].
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

const [, , name, ...rest] = process.argv;
// A release has no default. A clone is for development.
process.env.APP_ENV ||= 'development';
// An image without the compiler runs the existing build.
if (existsSync(join(root, 'node_modules', 'esbuild'))) prepare();
process.argv = [process.argv[0], name, ...rest];
await import(`../dist/${name}.js`);
