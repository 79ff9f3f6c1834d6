import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Contract } from '../contract.js';

/**
 * Changes the types of what a program gives to the service: a date or an identifier can also be a text, and a body a dict. The
 * generator has no option for it. Types of responses stay as they are.
 */
export async function widenInputs(core: string, contract: Contract): Promise<void> {
  const returned = returnedSchemas(contract);
  await changeFiles(join(core, 'models'), (text) => {
    const [, name = ''] = /^class (\w+):/m.exec(text) ?? [];
    return returned.has(name) ? text : widenFields(text);
  });
  await changeFiles(join(core, 'api'), widenParameters);
}

/** The fields of a class end before its first method. */
function widenFields(text: string): string {
  const end = text.indexOf('    def to_dict(');
  const widened = text.slice(0, end).replaceAll(/^ {4}\w+: .*$/gm, widenTypes);
  return withSequence(widened + text.slice(end));
}

function widenParameters(text: string): string {
  const end = text.indexOf(') -> Call[');
  const takesDict = text.includes('fields_of(body');
  const head = text
    .slice(0, end)
    .replaceAll(/^ {4}\w+: .*$/gm, widenTypes)
    .replace(/^( {4}body: )/m, takesDict ? '$1Mapping[str, Any] | ' : '$1');
  return withSequence(head + text.slice(end));
}

const withSequence = (text: string) =>
  text.includes('Sequence[')
    ? text.replace('from collections.abc import Mapping', 'from collections.abc import Mapping, Sequence')
    : text;

/** A list of identifiers is a sequence, because a type checker does not accept a `list[UUID]` as a `list[UUID | str]`. */
const widenTypes = (line: string) =>
  line
    .replaceAll(/\blist\[(UUID|datetime\.date(?:time)?)\]/g, 'Sequence[$1]')
    .replaceAll(/\bUUID\b/g, 'UUID | str')
    .replaceAll(/\bdatetime\.(date|datetime)\b/g, 'datetime.$1 | str');

/** Returns the names of the schemas in successful responses, with those inside them. */
function returnedSchemas({ paths, components }: Contract): Set<string> {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key !== '$ref' || typeof value !== 'string') {
        visit(value);
        continue;
      }
      const [, name = ''] = /^#\/components\/schemas\/(\w+)$/.exec(value) ?? [];
      if (found.has(name)) continue;
      found.add(name);
      visit(components.schemas[name]);
    }
  };
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
    for (const [status, response] of Object.entries(operation?.responses ?? {}))
      if (status.startsWith('2')) visit(response);
  return found;
}

async function changeFiles(folder: string, change: (text: string) => string): Promise<void> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.py'));
  for (const path of paths) {
    const file = join(folder, path);
    const text = await readFile(file, 'utf8');
    const changed = change(text);
    if (changed !== text) await writeFile(file, changed);
  }
}
