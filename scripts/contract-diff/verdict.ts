import { canonical, type Contract } from './contract.js';
import { compareContracts } from './compare.js';
import type { Finding } from './findings.js';

export type Bump = 'none' | 'patch' | 'minor' | 'major';

export type Verdict = {
  findings: Finding[];
  /** The smallest version step that the changes need. `patch`: only texts and examples changed. */
  bump: Bump;
  released: string;
  version: string;
  /** The version that the changes need at least. */
  needed: string;
  /** What must be corrected. Empty if the contract can be published. */
  problems: string[];
};

/** Compares a contract with the last release, and decides what its version and the changelog must say. */
export function judge(before: Contract, after: Contract, changelog: string): Verdict {
  const findings = compareContracts(before, after);
  const bump = bumpOf(findings, before, after);
  const [released, version] = [before.info.version, after.info.version];
  const needed = nextVersion(released, bump);
  const problems = [
    ...versionProblems(bump, { released, version, needed }),
    ...unmentioned(findings, changelog),
  ];
  return { findings, bump, released, version, needed, problems };
}

function bumpOf(findings: Finding[], before: Contract, after: Contract): Bump {
  if (findings.some(({ level }) => level === 'breaking')) return 'major';
  if (findings.length > 0) return 'minor';
  return textOf(before) === textOf(after) ? 'none' : 'patch';
}

const textOf = ({ info, ...contract }: Contract): string =>
  canonical({ ...contract, info: { ...info, version: undefined } });

type Version = [major: number, minor: number, patch: number];

function parseVersion(text: string): Version {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(text) ?? [];
  if (!major || !minor || !patch) throw new Error(`The version "${text}" is not of the form 1.2.3.`);
  return [Number(major), Number(minor), Number(patch)];
}

/** Sorts versions in ascending order. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [parseVersion(left), parseVersion(right)];
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function nextVersion(released: string, bump: Bump): string {
  const [major, minor, patch] = parseVersion(released);
  if (bump === 'major') return `${major + 1}.0.0`;
  if (bump === 'minor') return `${major}.${minor + 1}.0`;
  return bump === 'patch' ? `${major}.${minor}.${patch + 1}` : released;
}

type Versions = Pick<Verdict, 'released' | 'version' | 'needed'>;

function versionProblems(bump: Bump, { released, version, needed }: Versions): string[] {
  // Corrected texts wait for the next release.
  const least = bump === 'patch' ? released : needed;
  if (compareVersions(version, least) >= 0) return [];
  if (bump === 'major')
    return [`Breaking changes need version ${needed}, and info.version is ${version}. Undo them.`];
  return [
    `The changes need version ${least}, and info.version is ${version}. Set it in openapi/openapi.yaml.`,
  ];
}

function unmentioned(findings: Finding[], changelog: string): string[] {
  const section = unreleased(changelog);
  const missing = findings.filter(({ names }) => !names.some((name) => contains(section, name)));
  const wanted = [...new Set(missing.map(({ names }) => names.join(' or ')))];
  return wanted.length === 0
    ? []
    : [`CHANGELOG.md does not mention under "Unreleased": ${wanted.join(', ')}.`];
}

function unreleased(changelog: string): string {
  const [, section = ''] = changelog.split(/^## Unreleased$/m);
  return section.split(/^## /m)[0] ?? '';
}

/** Returns whether the text contains the name as a whole word. */
function contains(text: string, name: string): boolean {
  const literal = name.replace(/[^\w]/g, '\\$&');
  return new RegExp(`(?<![\\w])${literal}(?![\\w])`).test(text);
}
