// What a release contains besides the dependencies.
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { PROGRAMS } from '../build.mjs';
import { bundleFilesOf } from './bundle-files.mjs';
import { collectLicenses } from './licenses.mjs';
import { git } from './revision.mjs';

// No fixtures/ and no tools/: these are made-up data and their loaders, and what programs bundle of them.
const BUILT = [
  ...['dist/src', 'dist/generated', 'dist/console'],
  ...['generated/openapi.json', 'generated/openapi.yaml', 'generated/openapi.sdk.json'],
  ...['generated/reference.json', 'generated/routes.json', 'generated/schema.json', 'generated/site'],
];
/** What a build was made of, with the times of its files, which would make every release different. */
const BUILD_RECORD = '.built';
/** The files of the documentation with the heading of a version: pages, texts for programs, and the index of the search. */
const HAS_CHANGES = /\.(html|md|txt|json)$/;
/** Only what git tracks, because operators keep secrets in deploy/. */
const TRACKED = [
  'bin',
  'data',
  'deploy',
  'docs',
  'prisma/migrations',
  'prisma/released.json',
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'LICENSE',
];

/** Copies the build, the contract, the migrations and the documents into `target`, which already has the dependencies. */
export function stageApplication(root, target, revision) {
  const tracked = git(root, 'ls-files', '-z', '--', ...TRACKED)
    .split('\0')
    .filter(Boolean);
  for (const path of [...BUILT, ...tracked, ...bundleFilesOf(root, PROGRAMS)]) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(root, path), join(target, path), {
      recursive: true,
      filter: (source) => !isEmbeddedPostgres(relative(root, source)) && basename(source) !== BUILD_RECORD,
    });
  }
  nameVersion(target, revision);
  chmodSync(join(target, 'bin', 'crossdock'), 0o755);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(
    join(target, 'package.json'),
    `${JSON.stringify(releasedManifest(manifest, revision), null, 2)}\n`,
  );
  writeFileSync(join(target, 'THIRD-PARTY-LICENSES.txt'), collectLicenses(target));
}

/**
 * Gives the changes of a release the heading of its version, as `contract:release` asks for, also if the commit has them under "Unreleased":
 * operators read in CHANGELOG.md what an upgrade brings. A version that has a section keeps it, and later changes stay unreleased.
 */
function nameVersion(target, { version, epoch }) {
  const changelog = join(target, 'CHANGELOG.md');
  const text = readFileSync(changelog, 'utf8');
  if (text.includes(`\n## ${version} (`)) return;
  const date = new Date(epoch * 1000).toISOString().slice(0, 10);
  writeFileSync(changelog, text.replace(/^## Unreleased$/m, `## ${version} (${date})`));
  const id = version.replaceAll('.', '-');
  const site = join(target, 'generated', 'site');
  for (const path of readdirSync(site, { recursive: true }).filter((each) => HAS_CHANGES.test(each))) {
    const page = readFileSync(join(site, path), 'utf8')
      .replaceAll(`${version}, not released yet`, `${version} (${date})`)
      .replaceAll(`${id}-not-released-yet`, `${id}-${date}`);
    writeFileSync(join(site, path), page);
  }
}

/** The bundles of the programs contain what they need of it. */
const isEmbeddedPostgres = (path) => path === join('dist', 'src', 'development');

/** Keeps the npm scripts that operators use, so that `npm run migrate` also works in a release. */
function releasedManifest(
  { name, version, description, license, type, engines, scripts, dependencies },
  { commit },
) {
  const commands = new Set(PROGRAMS.map((path) => basename(path, '.ts')));
  const operators = Object.entries(scripts).flatMap(([script, command]) => {
    const [, program = ''] = /^node scripts\/run\.mjs \S*?([\w-]+)$/.exec(command) ?? [];
    return commands.has(program) ? [[script, `node bin/crossdock ${program}`]] : [];
  });
  return {
    ...{ name, version, description, license, private: true, type, engines, gitHead: commit },
    bin: { crossdock: 'bin/crossdock' },
    scripts: {
      start: 'node bin/crossdock serve',
      worker: 'node bin/crossdock worker',
      ...Object.fromEntries(operators),
    },
    dependencies,
  };
}
