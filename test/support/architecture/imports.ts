import { dirname, join, normalize } from 'node:path';
import type { Source } from './source.js';

export type Import = { from: string; to: string; isType: boolean };

/** Returns every relative import of a file, type imports included. Paths are relative to the project's root. */
export function importsOf({ path, text }: Source): Import[] {
  const statements = text.matchAll(/^(?:import|export)\s(?<type>type\s)?[^;]*?from '(?<name>\.[^']+)'/gm);
  const dynamic = text.matchAll(/import\('(?<name>\.[^']+)'\)/g);
  return [...statements, ...dynamic].map(({ groups = {} }) => ({
    from: path,
    to: normalize(join(dirname(path), groups['name'] ?? '')).replace(/\.js$/, '.ts'),
    isType: groups['type'] !== undefined,
  }));
}

/** Returns the import cycles, type imports included. @param nodeOf the node of the graph that a file belongs to */
export function findCycles(imports: Import[], nodeOf: (path: string) => string): string[] {
  const edges = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [a, b] = [nodeOf(from), nodeOf(to)];
    if (a !== b) edges.set(a, (edges.get(a) ?? new Set()).add(b));
  }
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (node: string, trail: string[]): void => {
    if (trail.includes(node)) cycles.push([...trail.slice(trail.indexOf(node)), node].join(' -> '));
    if (trail.includes(node) || done.has(node)) return;
    for (const next of edges.get(node) ?? []) visit(next, [...trail, node]);
    done.add(node);
  };
  for (const node of edges.keys()) visit(node, []);
  return cycles;
}

/** Returns the folders with more than `max` files, each with its number of files. */
export function findCrowdedFolders(paths: string[], max: number): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > max).map(([folder, count]) => `${folder}: ${count}`);
}
