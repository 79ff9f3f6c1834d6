import ts from 'typescript';
import { findNodes, type Source } from './source.js';

/** A comment that begins with these words says nothing without the one that it refers to: `The same for several codes.` */
const REFERS =
  /^(?:\w+s )?the same(?: (?:as|at|by|for|from|if|in|of|on|to|when|where|with|without)\b|[.,:;])/i;

/**
 * Comments that refer with "the same" to something else than the documented declaration directly above them. It is another thing
 * if it is of another kind, or if only the later one is exported.
 */
export const findDanglingSame = (source: Source): string[] => {
  // Parsing every file would take many seconds.
  if (!/(?:\/\*\*?|\/\/|\*)\s+(?:\w+s )?the same/i.test(source.text)) return [];
  return findNodes(source, (node) => {
    if (ts.isSourceFile(node) || !REFERS.test(commentOf(node))) return false;
    const siblings = childrenOf(node.parent);
    const previous = siblings[siblings.indexOf(node) - 1];
    if (previous === undefined || commentOf(previous) === '') return true;
    return kindOf(previous) !== kindOf(node) || (isExported(node) && !isExported(previous));
  });
};

function kindOf(node: ts.Node): 'function' | 'type' | 'value' {
  if (ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node)) return 'type';
  if (ts.isFunctionLike(node)) return 'function';
  if (!ts.isVariableStatement(node)) return 'value';
  const made = node.declarationList.declarations[0]?.initializer;
  return made && ts.isFunctionLike(made) ? 'function' : 'value';
}

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

function childrenOf(parent: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(parent, (child) => void children.push(child));
  return children;
}

/** Returns the text of the comment above a node; empty if there is none. */
function commentOf(node: ts.Node): string {
  const text = node.getSourceFile().text;
  // A node that begins where its parent begins has the parent's comment.
  if (node.parent.getFullStart() === node.getFullStart() && !ts.isSourceFile(node.parent)) return '';
  const comment = ts.getLeadingCommentRanges(text, node.getFullStart())?.at(-1);
  if (!comment) return '';
  const lines = text.slice(comment.pos, comment.end).split('\n');
  return lines
    .map((line) => line.replace(/^\s*(?:\/\*\*?|\/\/|\*(?!\/))|\*\/\s*$/g, '').trim())
    .join(' ')
    .trim();
}
