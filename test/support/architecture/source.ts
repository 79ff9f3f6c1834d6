import ts from 'typescript';

/** A TypeScript file. The path is relative to the project's root. */
export type Source = { path: string; text: string };

const SHOWN_CHARACTERS = 120;

/** Several rules read the same files. */
const parsed = new Map<string, ts.SourceFile>();

function parse({ path, text }: Source): ts.SourceFile {
  const known = parsed.get(path);
  if (known?.text === text) return known;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  parsed.set(path, file);
  return file;
}

/** Returns `path:line: code` for each node of a file that breaks a rule. Comments and strings are not code. */
export function findNodes({ path, text }: Source, breaks: (node: ts.Node) => boolean): string[] {
  const file = parse({ path, text });
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (breaks(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      const code = node.getText(file).replace(/\s+/g, ' ');
      found.push(`${path}:${line + 1}: ${code.slice(0, SHOWN_CHARACTERS)}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}
